// Memory that several ranks use and leave, and rings for all.

#include "transports/shm/lots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"
#include "transports/shm/segment.hpp"
#include "transports/shm/team_memory.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t lot_bytes = 1 << 16;

bool is_zero(std::span<const std::byte> lot) {
  return std::ranges::all_of(lot.subspan(sizeof(shm::lot_head)),
                             [](std::byte each) { return each == std::byte{0}; });
}

TEST_CASE("a lot is used again when all its users have left it, and is zero then") {
  const shm::segment memory = shm::segment::create("test", lot_bytes);
  shm::lots lots({memory.base(), memory.bytes()});
  for (int round = 0; round < 3; ++round) {
    const std::span<std::byte> lot = lots.let(lot_bytes, 2);
    CHECK(is_zero(lot));
    std::memset(lot.data() + sizeof(shm::lot_head), 7, lot.size() - sizeof(shm::lot_head));
    int cleaned = 0;
    shm::lots::leave(lot.data(), [&] { ++cleaned; });
    CHECK(cleaned == 0);
    const auto why = failure_of([&] { lots.let(lot_bytes, 1); });
    REQUIRE(why);
    CHECK(why->code() == errc::resource);
    shm::lots::leave(lot.data(), [&] { ++cleaned; });
    CHECK(cleaned == 1);
  }
  lots.withdraw(lots.let(lot_bytes, 5).data());
  CHECK(is_zero(lots.let(lot_bytes, 1)));
}

TEST_CASE("lots left behind stay few, though nobody asks for the last of the memory") {
  const shm::segment memory = shm::segment::create("test", 1000 * lot_bytes);
  shm::lots lots({memory.base(), memory.bytes()});
  const std::byte* furthest = nullptr;
  for (int i = 0; i < 5000; ++i) {
    const std::span<std::byte> lot = lots.let(lot_bytes, 1);
    furthest = std::max<const std::byte*>(furthest, lot.data());
    shm::lots::leave(lot.data(), [] {});
  }
  CHECK(furthest < memory.base() + 10 * lot_bytes);
}

}  // namespace
}  // namespace muster::testing
