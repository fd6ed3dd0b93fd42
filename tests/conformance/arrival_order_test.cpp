// Reductions that may be combined as contributions come, with ranks that come late at random.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

/// Of any element: each rank's is of another magnitude, so that the order of a sum shows.
double share_of(std::size_t rank) { return std::pow(10.0, static_cast<double>(rank)) / 3; }

double total(std::size_t ranks) {
  double sum = 0;
  for (std::size_t i = 0; i < ranks; ++i) sum += share_of(i);
  return sum;
}

bool all_near(const std::vector<double>& values, double should_be) {
  return std::ranges::all_of(
      values, [should_be](double each) { return std::abs(each - should_be) <= 1e-12 * should_be; });
}

void come_late(random_stream& random) {
  if (random.one_in(2)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
}

struct outcome {
  std::vector<double> everywhere;
  bool all_right = true;
};

/// What a rank sees of each reduction once.
outcome reduce_all_ways(team& of, std::size_t count, random_stream& random) {
  const reducer add = in_arrival_order(sum);
  const double all = total(of.size());
  const std::vector<double> mine(count, share_of(of.rank()));
  outcome result;

  come_late(random);
  result.everywhere.resize(count);
  start(allreduce(of, mine, result.everywhere, add)).wait();
  result.all_right = all_near(result.everywhere, all);

  come_late(random);
  std::vector<double> data = mine;
  start(reduce(of, data, add, of.size() / 2)).wait();
  result.all_right &= of.rank() == of.size() / 2 ? all_near(data, all) : data == mine;

  come_late(random);
  std::vector<double> blocks(count * of.size(), share_of(of.rank()));
  std::vector<double> block(count);
  start(reduce_scatter_block(of, blocks, block, add)).wait();
  result.all_right &= all_near(block, all);

  come_late(random);
  data = mine;
  start(scan(of, data, add)).wait();
  result.all_right &= all_near(data, total(of.rank() + 1));
  return result;
}

TEST_CASE("in arrival order all ranks see the same, and nearly that of rank order") {
  constexpr std::size_t many[] = {2, 3, 8};
  constexpr std::size_t few[] = {3};
  constexpr layout nodes[] = {layout::one_node, layout::scattered};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : many;
  for (const world_case& world : worlds(ranks, nodes)) {
    const watchdog alive(describe(world));
    for (const std::size_t count : {1, 20, 700, 9000, 70001}) {
      INFO(describe(world), ", ", count, " elements; ", how_to_replay());
      for (std::size_t round = 0; round < rounds(4, 2); ++round) {
        std::vector<outcome> seen(world.ranks);
        run_threads(
            world.ranks,
            [&](team& of) {
              random_stream random(derive(run_seed() + round, of.rank()));
              seen[of.rank()] = reduce_all_ways(of, count, random);
            },
            options_for(world));
        for (const outcome& each : seen) {
          CHECK(each.all_right);
          CHECK(each.everywhere == seen[0].everywhere);
        }
      }
    }
  }
}

TEST_CASE("whole numbers come out the same in any order") {
  for (const std::size_t count : {3, 5000, 60000}) {
    run_threads(4, [count](team& of) {
      random_stream random(derive(run_seed(), of.rank()));
      const std::vector<std::uint32_t> mine(count, 0x9e37'79b9U << of.rank());
      const std::vector<std::uint32_t> all(count, 0x9e37'79b9U * 15);
      std::vector<std::uint32_t> result(count);
      for (const reducer& add : {reducer(sum), in_arrival_order(sum)}) {
        come_late(random);
        start(allreduce(of, mine, result, add)).wait();
        CHECK(result == all);
        come_late(random);
        start(reduce(of, mine, result, add, 1)).wait();
        CHECK(result == all);
      }
    });
  }
}

}  // namespace
}  // namespace muster::testing
