// Reductions of numbers that round: the same bits on every rank and in every run, and on one node
// those of combining in rank order.

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "tests/conformance/sweep.hpp"
#include "tests/harness/build.hpp"
#include "tests/harness/findings.hpp"
#include "tests/harness/random.hpp"
#include "tests/harness/watchdog.hpp"

namespace muster::testing {
namespace {

using bytes = std::vector<std::byte>;

spec rounding_call(collective what, datatype type, reduction op, std::size_t count) {
  return {what, type, op, count, 0, false, true, derive(0x5eed, count)};
}

bytes result_of(team& of, const spec& call, random_stream& random) {
  if (random.one_in(3)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(200)));
  checked_call one(of, call, memory::own, random.below(9));
  start(one.perform()).wait();
  const auto received = one.received();
  return {received.begin(), received.end()};
}

/// Each rank's results of all runs.
std::vector<std::vector<bytes>> results(const world_case& world, const spec& call,
                                        std::size_t runs) {
  std::vector<std::vector<bytes>> all(world.ranks);
  const watchdog alive(describe(world) + ", " + describe(call));
  run_threads(
      world.ranks,
      [&](team& of) {
        random_stream random(derive(run_seed(), of.rank()));
        for (std::size_t i = 0; i < runs; ++i) {
          all[of.rank()].push_back(result_of(of, call, random));
        }
      },
      options_for(world));
  return all;
}

template <class T>
bool nearly_equal(const bytes& is, const bytes& should_be) {
  for (std::size_t at = 0; at < is.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, is.data() + at, sizeof(T));
    std::memcpy(&b, should_be.data() + at, sizeof(T));
    constexpr T tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
    if (std::abs(a - b) > tolerance * std::abs(b)) return false;
  }
  return true;
}

bool near(const spec& call, const bytes& is, const bytes& should_be) {
  if (is.size() != should_be.size()) return false;
  return call.type == datatype::float32 ? nearly_equal<float>(is, should_be)
                                        : nearly_equal<double>(is, should_be);
}

void check_reproducible(const world_case& world, const spec& call) {
  INFO(describe(world), ", ", describe(call), "; ", how_to_replay());
  const auto first = results(world, call, rounds(6, 3));
  const auto again = results(world, call, 1);
  const bytes& reference = first[0][0];
  const std::size_t receivers = call.what == collective::reduce ? 1 : world.ranks;
  bool same = true;
  for (std::size_t rank = 0; rank < receivers; ++rank) {
    for (const bytes& each : first[rank]) same = same && each == reference;
    same = same && again[rank][0] == reference;
  }
  CHECK(same);
  const bytes in_rank_order = expected(call, world.ranks, 0);
  CHECK(near(call, reference, in_rank_order));
  if (world.nodes == layout::one_node) CHECK(reference == in_rank_order);
}

TEST_CASE("rounded sums and products are the same everywhere and every time") {
  constexpr std::size_t all[] = {2, 3, 7, 8};
  constexpr std::size_t few[] = {3};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  constexpr layout nodes[] = {layout::one_node, layout::uneven, layout::scattered};
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const std::size_t count : {1, 7, 300, 9001, 70001}) {
      const datatype type = count % 2 == 0 ? datatype::float32 : datatype::float64;
      const reduction op = count == 300 || count == 7 ? product : sum;
      check_reproducible(world, rounding_call(collective::allreduce, type, op, count));
      check_reproducible(world, rounding_call(collective::reduce, type, op, count));
    }
  }
}

TEST_CASE("the ways in which data moves do not change the bits") {
  const spec call = rounding_call(collective::allreduce, datatype::float32, sum, 50001);
  for (const layout nodes : {layout::one_node, layout::even}) {
    const auto lent = results({6, nodes, movement::lent}, call, 1);
    const auto staged = results({6, nodes, movement::staged}, call, 1);
    CHECK(lent[0][0] == staged[0][0]);
  }
}

}  // namespace
}  // namespace muster::testing
