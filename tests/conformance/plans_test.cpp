// Every collective through plans, which are run several times with other contents in the same
// buffers, on ranks some of which call plainly.

#include <doctest/doctest.h>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t runs = 4;

std::span<const std::size_t> some_rank_counts() {
  static constexpr std::size_t plain[] = {1, 2, 3, 5, 8};
  static constexpr std::size_t sanitizers[] = {1, 3};
  if (sanitized) return sanitizers;
  return plain;
}

void check_all(std::span<const movement> data, std::span<const std::size_t> counts, conduct how) {
  how.runs = runs;
  how.seed = run_seed();
  for (const world_case& world : worlds(some_rank_counts(), layouts, data)) {
    const std::string wrong =
        run_world(world, all_calls(world.ranks, counts, datatype::int32, sum), how);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("short messages, one at a time") {
  constexpr std::size_t counts[] = {0, 1, 48};
  constexpr movement any[] = {movement::staged};
  check_all(any, counts, {});
}

TEST_CASE("longer messages, several in flight, waited for in any order") {
  constexpr std::size_t counts[] = {500, 20000};
  check_all(movements, counts, {.in_flight = 5, .unpunctual = true});
}

TEST_CASE("plans in shared buffers, awaited together") {
  constexpr std::size_t counts[] = {7, 4095};
  constexpr movement ways[] = {movement::lent, movement::foreign};
  check_all(ways, counts, {.in_flight = 4, .together = true, .buffers = memory::shared});
}

}  // namespace
}  // namespace muster::testing
