// Short operations allocate nothing once warm: counted in the global operator new.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <muster/muster.hpp>

#include "tests/engine/run/calls.hpp"
#include "tests/support/allocations.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

/// Batches of calls, of which one at least allocates nothing. A rank runs ahead as far as it likes:
/// an order of arrivals that has not been before may need more frames than were ever alive at once,
/// or more memory for what is not received yet.
constexpr int most_batches = 4;

/// The least that a batch of calls allocates.
template <class Batch>
std::size_t least_of(Batch allocations_of_batch) {
  std::size_t least = allocations_of_batch();
  for (int batch = 1; batch < most_batches; ++batch) {
    least = std::min(least, allocations_of_batch());
  }
  return least;
}

/// What `times` calls allocate on this rank.
task<std::size_t> allocations_of(team& of, collective what, buffers& memory, int times) {
  const roots at{.bcast = of.size() - 1};
  const std::size_t before = allocations();
  for (int i = 0; i < times; ++i) co_await call(of, what, memory, at);
  co_return allocations() - before;
}

void check_no_allocations(std::size_t ranks, std::size_t count, const thread_options& options) {
  const watchdog alive("allocations");
  std::vector<std::array<std::size_t, collectives>> counted(ranks);
  run_threads(
      ranks,
      [&](team& of) {
        buffers memory(ranks, count);
        // All of them: a rank that is behind hears of the next one before its own comes to it.
        for (std::size_t i = 0; i < collectives; ++i) {
          start(allocations_of(of, static_cast<collective>(i), memory, 100)).wait();
        }
        for (std::size_t i = 0; i < collectives; ++i) {
          const auto what = static_cast<collective>(i);
          counted[of.rank()][i] =
              least_of([&] { return start(allocations_of(of, what, memory, 500)).wait(); });
          start(barrier(of)).wait();  // what follows is not to be counted here
        }
      },
      options);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < collectives; ++i) {
      INFO(name(static_cast<collective>(i)), ", rank ", rank, " of ", ranks, ", ", count,
           " elements");
      CHECK(counted[rank][i] == 0);
    }
  }
}

TEST_CASE("the counter counts") {
  const std::size_t before = allocations();
  // A plain call: a new-expression may be left out by the compiler.
  void* something = ::operator new(3);
  CHECK(allocations() == before + 1);
  ::operator delete(something);
}

TEST_CASE("awaited operations on one node") {
  for (const std::size_t ranks : {1, 2, 4, 9}) {
    for (const std::size_t count : {0, 1, 6, 64}) check_no_allocations(ranks, count, {});
  }
}

TEST_CASE("awaited operations over several nodes") {
  check_no_allocations(2, 8, {.node_of = {0, 1}});
  check_no_allocations(5, 8, {.node_of = {0, 0, 1, 2, 2}});
}

void start_two_and_wait(team& of, std::span<double> value) {
  future<> first = start(allreduce(of, value, sum));
  future<> second = start(barrier(of));
  second.wait();
  first.wait();
}

task<std::size_t> allocations_of(std::span<plan> plans, int times) {
  const std::size_t before = allocations();
  for (int i = 0; i < times; ++i) {
    for (plan& each : plans) co_await each.run();
  }
  co_return allocations() - before;
}

TEST_CASE("runs of plans, after the first") {
  const watchdog alive("allocations of plans");
  run_threads(4, [](team& of) {
    buffers memory(of.size(), 8);
    const block_layout blocks{memory.counts, {}};
    std::vector<plan> plans;
    plans.emplace_back(barrier(of));
    plans.emplace_back(allreduce(of, memory.one, memory.other, sum));
    plans.emplace_back(scan(of, memory.one, memory.other, sum));
    plans.emplace_back(alltoall(of, memory.blocks, memory.more_blocks));
    plans.emplace_back(allgatherv(of, memory.one, memory.blocks, blocks));
    // Frames come from the engine's pool, which the first rounds that need them fill.
    CHECK(least_of([&] { return start(of.engine(), allocations_of(plans, 300)).wait(); }) == 0);
  });
}

TEST_CASE("operations that are started and waited for") {
  const watchdog alive("allocations of started operations");
  run_threads(2, [](team& of) {
    std::array<double, 4> value{};
    const auto batch = [&] {
      const std::size_t before = allocations();
      for (int i = 0; i < 500; ++i) start_two_and_wait(of, value);
      return allocations() - before;
    };
    CHECK(least_of(batch) == 0);
  });
}

}  // namespace
}  // namespace muster::testing
