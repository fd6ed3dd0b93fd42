#include "tools/mpi/handle_cache.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace muster::mpi {
namespace {

/// Values of the handles from 1 on.
std::vector<int> values_of(int handles) {
  std::vector<int> values;
  for (int handle = 1; handle <= handles; ++handle) values.push_back(10 * handle);
  return values;
}

TEST_CASE("handle cache: the last of each of 16 places is found, and the others are forgotten") {
  const std::vector<int> values = values_of(1000);
  handle_cache<int, int> last;
  std::size_t found = 0;
  for (int handle = 1; handle <= 1000; ++handle) {
    last.keep(handle, values[static_cast<std::size_t>(handle) - 1]);
    REQUIRE(last.find(handle) != nullptr);
    CHECK(*last.find(handle) == 10 * handle);
  }
  for (int handle = 1; handle <= 1000; ++handle) {
    const int* const is = last.find(handle);
    if (is == nullptr) continue;
    ++found;
    CHECK(*is == 10 * handle);
  }
  CHECK(found == 16);
}

TEST_CASE("handle cache: what goes is found no more, nor what was never there") {
  const std::vector<int> values = values_of(2);
  handle_cache<int, int> last;
  CHECK(last.find(0) == nullptr);
  CHECK(last.find(1) == nullptr);
  last.keep(1, values[0]);
  last.keep(2, values[1]);
  last.forget(values[0]);
  CHECK(last.find(1) == nullptr);
}

}  // namespace
}  // namespace muster::mpi
