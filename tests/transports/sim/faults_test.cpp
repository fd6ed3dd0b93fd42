// Hosts that die or are cut off, rails that go and come, ranks that stop: under virtual time.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/api/shrink.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tests/transports/sim/run.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr double silence = 200'000;

/// Two hosts of two ranks.
sim::options two_hosts() {
  sim::options how{.node_of = {0, 0, 1, 1}, .seed = run_seed()};
  how.shuffle = true;
  how.watch_reads = true;
  how.faults.silence_ns = silence;
  return how;
}

task<> work_often(team& of, int times = 100'000) {
  for (int i = 0; i < times; ++i) {
    std::array<int, 100> values{};
    co_await allreduce(of, values, sum);
  }
}

/// What it fails with, or nothing.
template <class T>
task<std::string> failed(task<T> work) {
  try {
    co_await std::move(work);
  } catch (const error& why) {
    co_return why.text();
  }
  co_return std::string();
}

double end_of(sim::simulation& all, std::size_t rank) {
  return sim::to_ns(all.rank_at(rank).counted().finished);
}

void check_lost(sim::simulation& all, std::size_t rank, std::size_t first_lost,
                std::size_t last_lost) {
  INFO("rank ", rank, "; ", how_to_replay());
  const auto why = failures(all)[rank];
  REQUIRE(why);
  CHECK(why->code() == errc::rank_died);
  CHECK(why->rank() >= first_lost);
  CHECK(why->rank() <= last_lost);
}

TEST_CASE("a host that dies is missed by the others, after the set time") {
  const watchdog alive("a dead host");
  sim::options how = two_hosts();
  how.faults.host_deaths.push_back({.node = 1, .at_ns = 300'000});
  sim::simulation all(sim::model(), algos::catalog(), how);
  all.run([](sim::rank& me) { return work_often(me.team()); });
  for (const std::size_t rank : {0, 1}) {
    check_lost(all, rank, 2, 3);
    CHECK(end_of(all, rank) >= 300'000 + silence);
    CHECK(end_of(all, rank) < 300'000 + 1.5 * silence);
  }
  CHECK(all.rank_at(2).is_dead());
  CHECK(all.rank_at(3).is_dead());
}

TEST_CASE("who has left, and whose last words its host took with it, is missed as if it had not") {
  const watchdog alive("a dead host, and a rank that had left");
  sim::options how = two_hosts();
  how.faults.outages.push_back({.node = 1, .from_ns = 0, .until_ns = 100'000});
  how.faults.host_deaths.push_back({.node = 1, .at_ns = 50'000});
  sim::simulation all(sim::model(), algos::catalog(), how);
  all.run([](sim::rank& me) -> task<> {
    std::array<int, 4> values{};
    const int mine = 1;
    co_await gather(me.team(), std::span(&mine, 1), values, 0);
  });
  CHECK(end_of(all, 2) < 50'000);
  CHECK(!all.rank_at(2).is_dead());
  check_lost(all, 0, 2, 3);
  CHECK(end_of(all, 0) >= 50'000 + silence);
}

TEST_CASE("a host that is cut off for less than the set time is waited for") {
  const watchdog alive("a host cut off");
  std::array<double, 2> ends{};
  for (const bool cut : {false, true}) {
    sim::options how = two_hosts();
    if (cut) how.faults.outages.push_back({.node = 1, .from_ns = 300'000, .until_ns = 450'000});
    sim::simulation all(sim::model(), algos::catalog(), how);
    all.run([](sim::rank& me) { return work_often(me.team(), 100); });
    for (std::size_t rank = 0; rank < 4; ++rank) CHECK(!all.rank_at(rank).failure());
    ends[cut] = end_of(all, 0);
  }
  CHECK(ends[0] > 300'000);
  CHECK(ends[1] > ends[0] + 100'000);
}

TEST_CASE("of a host that is cut off for longer each side holds the other for dead, and goes on") {
  for (const double until : {300'000 + 2 * silence, sim::faults::for_ever}) {
    const watchdog alive("two sides");
    sim::options how = two_hosts();
    how.faults.outages.push_back({.node = 1, .from_ns = 300'000, .until_ns = until});
    sim::simulation all(sim::model(), algos::catalog(), how);
    std::array<std::size_t, 4> left{};
    all.run([&](sim::rank& me) -> task<> {
      bool failed = false;
      try {
        co_await work_often(me.team());
      } catch (const error& why) {
        failed = why.code() == errc::rank_died;
      }
      CHECK(failed);
      const auto rest = co_await shrink(me.team());
      co_await work_often(*rest, 10);
      left[me.number()] = rest->size();
    });
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(left[rank] == 2);
      CHECK(all.has_lost(rank, rank < 2 ? 2 : 0));
      CHECK(!all.has_lost(rank, rank < 2 ? 0 : 2));
    }
  }
}

TEST_CASE("what a lost rail carried goes by another, and by one that is back") {
  sim::model of;
  of.network.rails = 2;
  for (const bool both : {false, true}) {
    const watchdog alive("rails");
    sim::options how = two_hosts();
    how.faults.resent_after_ns = 20'000;
    how.faults.outages.push_back({.node = 1, .from_ns = 0, .until_ns = 2e6, .rail = 0});
    if (both) how.faults.outages.push_back({.node = 1, .from_ns = 0, .until_ns = 1e6, .rail = 1});
    sim::simulation all(of, algos::catalog(), how);
    all.run([](sim::rank& me) { return work_often(me.team(), 1); });
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(!all.rank_at(rank).failure());
      CHECK((end_of(all, rank) > 1e6) == both);
      CHECK(end_of(all, rank) < 1.5e6);
    }
  }
}

TEST_CASE("a rank that stops is waited for on its own node, and held for dead on another one") {
  for (const bool elsewhere : {false, true}) {
    const watchdog alive("a stopped rank");
    sim::options how = two_hosts();
    how.node_of = {0, 0, 0, elsewhere ? 1U : 0U};
    how.faults.stops.push_back({.rank = 3, .from_ns = 300'000, .until_ns = 300'000 + 3 * silence});
    sim::simulation all(sim::model(), algos::catalog(), how);
    all.run([](sim::rank& me) { return work_often(me.team(), 1000); });
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK((all.rank_at(rank).failure() != nullptr) == elsewhere);
      if (!elsewhere) CHECK(end_of(all, rank) >= 300'000 + 3 * silence);
    }
    if (elsewhere) check_lost(all, 0, 3, 3);
  }
}

// Rank 3 is held for dead by ranks 0 and 1 when it breaks the team, so that it cannot tell them.
// They wait for rank 2 alone, which goes on without that.
TEST_CASE("a failure is passed on by whoever knows of it") {
  const watchdog alive("a failure passed on");
  sim::options how = two_hosts();
  how.faults.stops.push_back({.rank = 3, .from_ns = 50'000, .until_ns = 50'000 + 3 * silence});
  sim::simulation all(sim::model(), algos::catalog(), how);
  std::array<std::string, 4> why;
  all.run([&](sim::rank& me) -> task<> {
    team& of = me.team();
    std::array<int, 1> never{};
    if (me.number() == 3) {
      co_await me.rest(100us);
      of.revoke("for a test");
    }
    const auto what = co_await failed(of.receive(me.number() == 2 ? 3 : 2, 1, never));
    why[me.number()] = what;
    if (me.number() == 2) co_await failed(shrink(of));
  });
  for (const std::size_t rank : {0, 1, 2}) {
    INFO(why[rank]);
    CHECK(says(why[rank], "rank 3 revoked the team: for a test"));
  }
}

TEST_CASE("faults that make no sense are refused") {
  const auto check_refused = [](const sim::options& how, std::string_view part) {
    const auto refused = failure_of([&] { sim::simulation(sim::model(), algos::catalog(), how); });
    REQUIRE(refused);
    CHECK(refused->code() == errc::invalid_argument);
    CHECK(says(refused->text(), part));
  };
  sim::options how = two_hosts();
  how.faults.host_deaths.push_back({.node = 2, .at_ns = 1});
  check_refused(how, "faults.host_deaths names node 2; expected a node from 0 to 1");
  how = two_hosts();
  how.faults.outages.push_back({.node = 0, .from_ns = 5, .until_ns = 4});
  check_refused(how, "faults.outages end before they begin");
  how.faults.outages[0] = {.node = 0, .from_ns = 5, .until_ns = 6, .rail = 1};
  check_refused(how, "faults.outages names rail 1; expected a rail from 0 to 0");
  how = two_hosts();
  how.faults.stops.push_back({.rank = 0, .from_ns = 1, .until_ns = sim::faults::for_ever});
  check_refused(how, "faults.stops has no end");
  how = two_hosts();
  how.faults.silence_ns = -1;
  check_refused(how, "faults.silence_ns is -1");
}

}  // namespace
}  // namespace muster::testing
