#include "tools/mpi/host_memory.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <deque>
#include <vector>

namespace muster::mpi {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST_CASE("host memory: 8 blocks are kept, and the oldest is freed for another") {
  host_memory memory;
  std::deque<host_memory::block> blocks;
  std::vector<std::byte*> places;
  for (int i = 0; i < 9; ++i) {
    blocks.push_back(memory.take(mebibyte));
    places.push_back(blocks.back().data());
  }
  CHECK(memory.idle() == 0);
  while (!blocks.empty()) blocks.pop_front();
  CHECK(memory.idle() == 8);
  for (std::size_t i = 1; i < places.size(); ++i) {
    blocks.push_back(memory.take(mebibyte));
    CHECK(blocks.back().data() == places[i]);
  }
  CHECK(memory.idle() == 0);
}

TEST_CASE("host memory: a block of more than 256 MiB is freed at once") {
  host_memory memory;
  {
    const host_memory::block longest = memory.take(256 * mebibyte);
  }
  CHECK(memory.idle() == 1);
  {
    const host_memory::block longer = memory.take(256 * mebibyte + 1);
  }
  CHECK(memory.idle() == 1);
}

}  // namespace
}  // namespace muster::mpi
