// Calls in which all ranks know that nothing moves: nobody waits in them for anybody.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tools/conformance/simulated.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

/// Of these every rank knows how much each sends and receives.
constexpr std::array empty_collectives{
    collective::bcast,     collective::reduce,     collective::allreduce,
    collective::allgather, collective::alltoall,   collective::scatter,
    collective::gather,    collective::scan,       collective::reduce_scatter_block,
    collective::exscan,    collective::allgatherv, collective::reduce_scatter};

constexpr std::size_t ranks[] = {2, 3, 8};
constexpr movement any[] = {movement::staged};

/// A call of no elements, from or to the last rank.
task<> call_empty(team& of, collective what) {
  static std::array<std::byte, 2> places;
  arguments call;
  call.what = what;
  call.type = datatype::int32;
  if (has_op(what)) call.op = sum;
  if (has_root(what)) call.root = of.size() - 1;
  if (what != collective::bcast) call.send = &places[0];
  call.receive = &places[1];
  if (!has_varying_blocks(what)) return perform(of, call);
  const std::vector<std::size_t> counts(of.size());
  const block_layout none;
  const block_layout empty{counts, {}};
  return what == collective::allgatherv ? perform(of, call, none, empty)
                                        : perform(of, call, empty, none);
}

task<> call_empty_often(team& of, collective what, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) co_await call_empty(of, what);
}

/// What is called afterwards is in its right place.
task<bool> adds_up(team& of) {
  const std::array mine{of.rank() + 1};
  std::array<std::size_t, 1> total{};
  co_await allreduce(of, mine, total, sum);
  co_return total[0] == of.size() * (of.size() + 1) / 2;
}

/// Rank 0 makes `times` calls before any other has made one, and all make them then.
void check_first_rank(const world_case& world, collective what, std::size_t times) {
  const std::string about = std::string(name(what)) + ", " + describe(world);
  INFO(about);
  const watchdog alive(about);
  std::atomic<bool> is_ahead = false;
  std::vector<std::string> wrong(world.ranks);
  run_threads(
      world.ranks,
      [&](team& of) {
        while (of.rank() != 0 && !is_ahead) std::this_thread::yield();
        const auto why = failure_of([&] {
          start(of.engine(), with_timeout(5s, call_empty_often(of, what, times))).wait();
          is_ahead = true;
          if (!start(of.engine(), adds_up(of)).wait()) wrong[of.rank()] = "a wrong sum";
        });
        is_ahead = true;
        if (why) wrong[of.rank()] = why->what();
      },
      options_for(world));
  for (const std::string& each : wrong) CHECK(each.empty());
}

TEST_CASE("a rank is through with them before any other comes") {
  for (const world_case& world : worlds(ranks, layouts, any)) {
    for (const collective what : empty_collectives) check_first_rank(world, what, 3);
  }
}

TEST_CASE("as far ahead as there are lanes") {
  check_first_rank({.ranks = 3}, collective::allgather, wire::lanes);
}

TEST_CASE("any number of them") {
  for (const world_case& world : worlds(ranks, layouts, any)) {
    const watchdog alive(describe(world));
    std::atomic<std::size_t> right = 0;
    run_threads(
        world.ranks,
        [&](team& of) {
          start(of.engine(), call_empty_often(of, collective::bcast, 1000)).wait();
          start(of.engine(), call_empty_often(of, collective::alltoall, 1000)).wait();
          if (start(of.engine(), adds_up(of)).wait()) ++right;
        },
        options_for(world));
    CHECK(right == world.ranks);
  }
}

TEST_CASE("under virtual time, too") {
  constexpr clock_time late = 1ms;
  for (const world_case& world : worlds(ranks, layouts, any)) {
    INFO(describe(world));
    const simulated in = simulate(world);
    sim::simulation all(in.model, algos::catalog(), in.options);
    clock_time through{0};
    std::size_t right = 0;
    all.run([&](sim::rank& me) -> task<> {
      if (me.number() != 0) co_await me.rest(late);
      for (const collective what : empty_collectives) {
        co_await call_empty_often(me.team(), what, 3);
      }
      if (me.number() == 0) through = me.now();
      const bool adds = co_await adds_up(me.team());
      if (adds) ++right;
    });
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(text_of(all.rank_at(i).failure()).empty());
    CHECK(right == world.ranks);
    CHECK(through < late);
  }
}

TEST_CASE("one that a rank makes alone is found at the next contact") {
  for (const world_case& world : worlds(ranks, layouts, any)) {
    for (const collective what : empty_collectives) {
      const std::string about = std::string(name(what)) + ", " + describe(world);
      INFO(about);
      const watchdog alive(about);
      std::vector<std::optional<error>> why(world.ranks);
      run_threads(
          world.ranks,
          [&](team& of) {
            why[of.rank()] = failure_of([&] {
              if (of.rank() == 1) start(of.engine(), call_empty(of, what)).wait();
              for (int i = 0; i < 3; ++i) start(of.engine(), with_timeout(5s, barrier(of))).wait();
            });
          },
          options_for(world));
      for (const auto& each : why) {
        REQUIRE(each);
        INFO(std::string(each->what()));
        CHECK(each->code() == errc::mismatched_call);
        CHECK(std::string(each->what()).find(name(what)) != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace muster::testing
