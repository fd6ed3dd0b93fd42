// Large nodes, where ranks look at few others: whoever calls something else, dies or leaves is
// found out all the same, and named to all; and what it costs that a line has many readers.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <muster/api/collectives.hpp>

#include "algos/catalog.hpp"
#include "tests/transports/sim/run.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t many = 27;

/// Caches of four ranks, and one of the three that are left.
sim::model large_node() {
  sim::model of;
  of.cluster.cores_a_node = many;
  of.cluster.cores_a_cache = 4;
  return of;
}

sim::options all_on_one() { return {.node_of = std::vector<std::size_t>(many, 0)}; }

task<> call(team& of, collective what) {
  std::vector<int> values(8 * many, 1);
  switch (what) {
    case collective::bcast:
      co_return co_await bcast(of, values, 5);
    case collective::reduce:
      co_return co_await reduce(of, values, sum, 5);
    case collective::allreduce:
      co_return co_await allreduce(of, values, sum);
    case collective::allgather:
      co_return co_await allgather(of, values);
    default:
      co_return co_await barrier(of);
  }
}

std::vector<collective> grouped_collectives() {
  std::vector<collective> result;
  for (const algorithm& row : algos::catalog()) {
    if (row.id == "grouped") result.push_back(row.what);
  }
  return result;
}

void choose_groups(team& of) {
  for (const collective what : grouped_collectives()) of.choose(what, "grouped");
}

void check_all_fail(sim::simulation& all, errc code, std::size_t culprit, std::string_view why) {
  const auto ends = failures(all);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i == culprit) continue;
    INFO("rank ", i);
    REQUIRE(ends[i]);
    INFO(ends[i]->text());
    CHECK(ends[i]->code() == code);
    CHECK(says(ends[i]->text(), why));
  }
}

// A leader, a member, the root and its leader, the last of all.
constexpr std::size_t odd_ones[] = {0, 2, 4, 5, 13, many - 1};

TEST_CASE("a rank that calls something else") {
  for (const collective what : grouped_collectives()) {
    for (const std::size_t odd : odd_ones) {
      INFO(name(what), ", rank ", odd);
      const watchdog alive("mismatch");
      sim::simulation all(large_node(), algos::catalog(), all_on_one());
      all.run([&](sim::rank& me) -> task<> {
        choose_groups(me.team());
        const bool differs = me.number() == odd;
        const auto instead =
            what == collective::barrier ? collective::allreduce : collective::barrier;
        co_await call(me.team(), differs ? instead : what);
        // Those who wait for nobody learn of it here.
        for (int i = 0; i < 3; ++i) co_await barrier(me.team());
      });
      check_all_fail(all, errc::mismatched_call, no_rank, "barrier()");
    }
  }
}

TEST_CASE("a rank that leaves") {
  for (const collective what : grouped_collectives()) {
    for (const std::size_t odd : odd_ones) {
      INFO(name(what), ", rank ", odd);
      const watchdog alive("departure");
      sim::simulation all(large_node(), algos::catalog(), all_on_one());
      all.run([&](sim::rank& me) -> task<> {
        choose_groups(me.team());
        co_await barrier(me.team());
        if (me.number() == odd) co_return;
        co_await call(me.team(), what);
        co_await barrier(me.team());
      });
      check_all_fail(all, errc::rank_left, odd, "rank " + std::to_string(odd));
    }
  }
}

TEST_CASE("a rank that dies") {
  for (const collective what : grouped_collectives()) {
    for (const std::size_t victim : odd_ones) {
      INFO(name(what), ", rank ", victim);
      const watchdog alive("death");
      sim::options how = all_on_one();
      how.faults.deaths.push_back({victim, 50'000});
      sim::simulation all(large_node(), algos::catalog(), how);
      all.run([&](sim::rank& me) -> task<> {
        choose_groups(me.team());
        for (int i = 0; i < 1000; ++i) co_await call(me.team(), what);
      });
      check_all_fail(all, errc::rank_died, victim, "rank " + std::to_string(victim) + " died");
    }
  }
}

TEST_CASE("they are chosen where there are many ranks, each with a core of its own") {
  sim::model of = large_node();
  arguments all_meet;
  CHECK(sim::simulation(of, algos::catalog(), all_on_one())
            .rank_at(0)
            .team()
            .selector()
            .select(all_meet)
            .row->id == "grouped");
  const sim::options few{.node_of = std::vector<std::size_t>(16, 0)};
  CHECK(sim::simulation(of, algos::catalog(), few)
            .rank_at(0)
            .team()
            .selector()
            .select(all_meet)
            .row->id == "flat");
  of.cluster.cores_a_node = many - 1;
  CHECK(sim::simulation(of, algos::catalog(), all_on_one())
            .rank_at(0)
            .team()
            .selector()
            .select(all_meet)
            .row->id == "flat");
}

/// When the last of so many ranks has read what rank 0 broadcasts.
double bcast_takes(const sim::model& of, std::size_t ranks) {
  const sim::options how{.node_of = std::vector<std::size_t>(ranks, 0)};
  double last = 0;
  for (const double end : run(of, how, [](sim::rank& me) -> task<> {
         std::vector<int> values(1);
         me.team().choose(collective::bcast, "flat");
         co_await bcast(me.team(), values, 0);
       })) {
    last = std::max(last, end);
  }
  return last;
}

TEST_CASE("readers of one line are served one after another") {
  sim::model of = free_model();
  of.memory.flag_ns = 100;
  CHECK(bcast_takes(of, 2) == bcast_takes(of, 30));
  of.memory.line_read_ns = 10;
  CHECK(bcast_takes(of, 30) - bcast_takes(of, 2) >= 280);
  CHECK(bcast_takes(of, 30) - bcast_takes(of, 2) < 320);
}

}  // namespace
}  // namespace muster::testing
