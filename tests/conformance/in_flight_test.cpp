// Several operations of one team in flight at once, waited for in any order, with ranks that come
// late at random.

#include <doctest/doctest.h>

#include "tests/conformance/sweep.hpp"
#include "tests/harness/build.hpp"
#include "tests/harness/random.hpp"

namespace muster::testing {
namespace {

void check_random_worlds(std::size_t how_many, std::size_t calls, std::size_t largest_count) {
  for (std::size_t i = 0; i < how_many; ++i) {
    random_stream random(derive(run_seed(), i));
    const world_case world = random_world(random, sanitized ? 5 : 9);
    const conduct how = random_conduct(random);
    const std::string wrong =
        run_world(world, random_calls(random.next(), world.ranks, calls, largest_count), how);
    CHECK_MESSAGE(wrong.empty(), "world ", i, ", ", how.in_flight, " in flight, ", wrong);
  }
}

TEST_CASE("many short operations in flight") {
  check_random_worlds(rounds(300, 40), rounds(150, 100), 40);
}

TEST_CASE("operations of all lengths in flight") {
  check_random_worlds(rounds(200, 40), rounds(40, 25), 5000);
}

TEST_CASE("long operations in flight") { check_random_worlds(rounds(60, 12), 12, 60000); }

}  // namespace
}  // namespace muster::testing
