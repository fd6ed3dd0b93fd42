// Every type x every operation of the reductions, and every type moved.

#include <doctest/doctest.h>

#include "tests/conformance/sweep.hpp"
#include "tests/harness/build.hpp"
#include "tests/harness/random.hpp"

namespace muster::testing {
namespace {

constexpr reduction operations[] = {sum, product, min, max};
constexpr std::size_t types = 11;

std::vector<spec> all_types(std::size_t ranks, std::size_t count) {
  std::vector<spec> calls;
  for (std::size_t i = 0; i < types; ++i) {
    const auto type = static_cast<datatype>(i);
    for (const reduction op : operations) {
      const std::size_t root = i % ranks;
      calls.push_back({collective::allreduce, type, op, count, 0, i % 2 == 0});
      calls.push_back({collective::reduce, type, op, count, root, i % 2 == 1});
    }
    calls.push_back({collective::bcast, type, reduction::none, count, i % ranks});
    calls.push_back({collective::allgather, type, reduction::none, count});
    calls.push_back({collective::alltoall, type, reduction::none, count});
  }
  give_seeds(calls, run_seed());
  return calls;
}

void check_all(std::size_t count) {
  constexpr std::size_t all[] = {1, 2, 3, 8};
  constexpr std::size_t few[] = {3};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  for (const world_case& world : worlds(ranks)) {
    const std::string wrong = run_world(world, all_types(world.ranks, count), {});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("every type and operation, short") { check_all(13); }
TEST_CASE("every type and operation, long") { check_all(rounds(9001, 4501)); }

}  // namespace
}  // namespace muster::testing
