// Every collective x ranks x nodes x sizes x roots x in place; data moves in every way with each of
// these, over three seeds that follow each other in all of a world.

#include <doctest/doctest.h>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

void check_all(std::span<const world_case> each, std::span<const std::size_t> counts) {
  for (const world_case& world : each) {
    const std::string wrong =
        run_world(world, all_calls(world.ranks, counts, datatype::int32, sum), {});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("short messages") {
  constexpr std::size_t counts[] = {0, 1, 7, 8, 64};
  constexpr movement any[] = {movement::staged};  // they all go through the arrivals
  check_all(worlds(rank_counts(), layouts, any), counts);
}

TEST_CASE("middling messages") {
  constexpr std::size_t counts[] = {4095};
  check_all(worlds_in_turn(rank_counts(), run_seed()), counts);
}

std::span<const std::size_t> few_rank_counts() {
  static constexpr std::size_t plain[] = {2, 3, 5, 8};
  static constexpr std::size_t sanitizers[] = {3};
  if (sanitized) return sanitizers;
  return plain;
}

TEST_CASE("long messages") {
  constexpr std::size_t counts[] = {65536};
  check_all(worlds_in_turn(sanitized ? few_rank_counts() : rank_counts(), run_seed() + 1), counts);
}

TEST_CASE("very long messages") {
  constexpr std::size_t counts[] = {(std::size_t{1} << 20) + 3};
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  check_all(worlds_in_turn(few_rank_counts(), run_seed() + 2, nodes), counts);
}

}  // namespace
}  // namespace muster::testing
