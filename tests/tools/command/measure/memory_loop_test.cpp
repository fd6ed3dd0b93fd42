#include "tools/command/measure/memory_loop.hpp"

#include <doctest/doctest.h>

#include "transports/shm/trip.hpp"

namespace muster::measure {
namespace {

TEST_CASE("memory loop: a byte takes time, no more with the help of others") {
  memory_loop loop;
  const std::vector<int> cpus = shm::allowed_cpus();
  const double alone = loop.copy_ns_a_byte(std::span(cpus).first(1));
  const double together = loop.copy_ns_a_byte(cpus);
  CHECK(alone > 0.001);  // a terabyte a second
  CHECK(alone < 10);
  CHECK(together > 0.001);
  CHECK(together < 2 * alone);
}

}  // namespace
}  // namespace muster::measure
