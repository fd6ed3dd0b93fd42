#include "tools/command/measure/copy_loop.hpp"

#include <doctest/doctest.h>

#include "tools/command/measure/switches.hpp"

namespace muster::measure {
namespace {

TEST_CASE("copy loop: every copy takes time, a large one more than a small one") {
  copy_loop loop(shm::probe_cpus());
  const copy_times small = loop.measure(8, 2);
  const copy_times large = loop.measure(std::size_t{1} << 20, 2);
  for (const copy_times& one : {small, large}) {
    CHECK(one.near_ns > 0);
    CHECK(one.crossing_ns > 0);
  }
  CHECK(large.near_ns > 10 * small.near_ns);
  CHECK(large.crossing_ns > 10 * small.crossing_ns);
}

TEST_CASE("copy loop: any size, also where the ring has two slots only") {
  copy_loop loop(shm::probe_cpus());
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{8} << 20}) {
    CHECK(loop.measure(bytes, 16).crossing_ns > 0);
  }
}

TEST_CASE("copy loop: blocks that nobody changes are near, and one slot is enough for long ones") {
  copy_loop loop(shm::probe_cpus());
  const copy_times found = loop.measure(4096, 2, {.same_buffers = true});
  CHECK(found.near_ns > 0);
  CHECK(found.crossing_ns == found.near_ns);
  CHECK(loop.measure(std::size_t{64} << 20, 2).crossing_ns > 0);
}

TEST_CASE("copy loop: on one CPU every copy is near") {
  const copy_times found = copy_loop(std::nullopt).measure(4096, 2);
  CHECK(found.crossing_ns == found.near_ns);
}

TEST_CASE("switches: handing a core on takes time") {
  CHECK(switch_ns(shm::allowed_cpus().front(), 1) > 0);
}

}  // namespace
}  // namespace muster::measure
