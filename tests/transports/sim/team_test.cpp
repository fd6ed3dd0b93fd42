// Teams made from teams under virtual time.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/api/shrink.hpp>
#include <muster/api/sparse.hpp>
#include <muster/api/split.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/within.hpp>

#include "algos/catalog.hpp"
#include "tests/transports/sim/run.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/simulated.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<std::vector<std::size_t>>& all_layouts() {
  static const std::vector<std::vector<std::size_t>> all = {
      {0, 0, 0, 0, 0}, {0, 0, 0, 1, 1}, {0, 1, 0, 2, 1}, {0, 1, 2, 3, 4}};
  return all;
}

sim::options watched(const std::vector<std::size_t>& node_of) {
  sim::options how{.node_of = node_of, .seed = run_seed()};
  how.shuffle = true;
  how.watch_reads = true;
  return how;
}

TEST_CASE("all collectives, on the parts of a team at once and on the whole") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("calls on parts");
    findings found;
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    all.run([&](sim::rank& me) -> task<> {
      const auto part = co_await split(me.team(), static_cast<int>(me.number() % 2), 0);
      const auto whole = co_await duplicate(me.team());
      const lateness pause = rests(me, 10us);
      const conduct how{.in_flight = 20, .seed = run_seed()};
      const auto on_part = random_calls(run_seed(), part->size(), 100, 3000);
      const auto on_whole = random_calls(run_seed() + 1, whole->size(), 100, 3000);
      co_await when_all(make_calls(*part, on_part, how, found, pause),
                        make_calls(*whole, on_whole, how, found, pause));
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
    CHECK_MESSAGE(found.take().empty(), how_to_replay());
  }
}

TEST_CASE("hundreds of ranks: rows and columns, in the same time every time") {
  const watchdog alive("a large grid");
  static constexpr std::size_t width = 32;
  static constexpr std::size_t rows = 16;
  const auto run_grid = [] {
    sim::options how;
    for (std::size_t rank = 0; rank < width * rows; ++rank) {
      how.node_of.push_back(rank / width);
    }
    return run(sim::model(), how, [](sim::rank& me) -> task<> {
      const auto x = static_cast<int>(me.number() % width);
      const auto y = static_cast<int>(me.number() / width);
      const auto row = co_await split(me.team(), y, x);
      const auto column = co_await split(me.team(), x, y);
      std::array<int, 1> in_row = {1};
      std::array<int, 1> in_column = {1};
      co_await when_all(allreduce(*row, in_row, sum), allreduce(*column, in_column, sum));
      CHECK(in_row[0] == width);
      CHECK(in_column[0] == rows);
    });
  };
  CHECK(run_grid() == run_grid());
}

TEST_CASE("many teams, dropped by each rank when it likes, with flags still on their way") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("many simulated teams");
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    all.run([](sim::rank& me) -> task<> {
      random_stream random(derive(run_seed(), me.number()));
      std::vector<std::unique_ptr<team>> kept;
      for (std::size_t i = 0; i < 500; ++i) {
        kept.push_back(co_await split(me.team(), static_cast<int>(me.number() * (i % 3) % 2), 0));
        std::array<int, 100> values{};
        co_await bcast(*kept.back(), values, 0);
        while (kept.size() > 10 || (!kept.empty() && random.one_in(2))) {
          std::swap(kept[random.below(kept.size())], kept.back());
          kept.pop_back();
        }
      }
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
  }
}

TEST_CASE("teams of teams, and subsets") {
  for (const auto& nodes : all_layouts()) {
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    all.run([](sim::rank& me) -> task<> {
      const std::array<std::size_t, 3> list = {4, 0, 3};
      auto part = co_await subset(me.team(), list);
      if (part == nullptr) co_return;
      part =
          co_await split(*part, part->rank() == 0 ? no_color : 1, -static_cast<int>(part->rank()));
      CHECK((part == nullptr) == (me.number() == 4));
      if (part == nullptr) co_return;
      CHECK(part->rank() == (me.number() == 3 ? 0 : 1));
      std::array<int, 1> mine = {static_cast<int>(me.number())};
      std::array<int, 2> both{};
      co_await allgather(*part, mine, both);
      CHECK(both == std::array<int, 2>{3, 0});
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
  }
}

TEST_CASE("messages of any length, and exchanges that only senders know of") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("simulated messages");
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    all.run([](sim::rank& me) -> task<> {
      team& of = me.team();
      const std::size_t next = (of.rank() + 1) % of.size();
      const std::size_t before = (of.rank() + of.size() - 1) % of.size();
      for (const std::size_t length : {0, 3, 5000, 50'000}) {
        std::vector<int> mine(length, static_cast<int>(of.rank()));
        std::vector<int> got(length, -1);
        const auto receives = [&]() -> task<> {
          CHECK(co_await of.receive(before, length, got) == length);
        };
        co_await when_all(of.send(next, length, mine), receives());
        CHECK(got == std::vector<int>(length, static_cast<int>(before)));
      }
      std::vector<int> data(of.rank() * 1000, static_cast<int>(of.rank()));
      std::vector<block_to<int>> blocks = {{0, data}};
      if (of.rank() == 2) blocks.push_back({3, data});
      const auto come = co_await sparse_alltoallv(of, blocks);
      CHECK(come.size() == (of.rank() == 0 ? of.size() : of.rank() == 3 ? 1 : 0));
      for (const block_from<int>& each : come) {
        CHECK(each.data == std::vector<int>(each.rank * 1000, static_cast<int>(each.rank)));
      }
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
  }
}

TEST_CASE("a new team of all, after a deadline broke the old one") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("simulated shrink");
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    all.run([](sim::rank& me) -> task<> {
      bool failed = false;
      try {
        if (me.number() == 3) {
          co_await with_timeout(50us, barrier(me.team()));
        } else {
          std::array<int, 1> one = {1};
          for (;;) co_await allreduce(me.team(), one, sum);
        }
      } catch (const error&) {
        failed = true;
      }
      CHECK(failed);
      const auto rest = co_await shrink(me.team());
      CHECK(rest->size() == me.team().size());
      std::array<int, 1> one = {1};
      co_await allreduce(*rest, one, sum);
      CHECK(one[0] == static_cast<int>(rest->size()));
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
  }
}

TEST_CASE("a new team of those who are alive") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("simulated deaths");
    sim::options how = watched(nodes);
    how.faults.deaths.push_back({1, 40'000});
    sim::simulation all(sim::model(), algos::catalog(), how);
    std::size_t survived = 0;
    all.run([&](sim::rank& me) -> task<> {
      bool failed = false;
      try {
        for (;;) co_await with_timeout(1ms, barrier(me.team()));
      } catch (const error&) {
        failed = true;
      }
      CHECK(failed);
      const auto rest = co_await shrink(me.team());
      CHECK(rest->size() == 4);
      std::array<int, 1> one = {1};
      co_await allreduce(*rest, one, sum);
      CHECK(one[0] == 4);
      ++survived;
    });
    CHECK(survived == 4);
  }
}

/// Calls on a team of those who are alive, each time that one is lost.
task<> go_on(sim::rank& me, std::size_t& ended) {
  std::unique_ptr<team> rest;
  for (bool has_failed = true; has_failed;) {
    has_failed = false;
    team& now = rest ? *rest : me.team();
    try {
      for (int i = 0; i < 10; ++i) {
        std::array<int, 1> one = {1};
        co_await allreduce(now, one, sum);
        co_await me.rest(20us);
      }
    } catch (const error& why) {
      if (why.code() == errc::stopped) throw;  // this rank is dead
      has_failed = true;
    }
    if (has_failed) rest = co_await shrink(now);
  }
  ++ended;
}

TEST_CASE("one that dies at whatever moment of it leaves nobody waiting") {
  for (const auto& nodes : all_layouts()) {
    const watchdog alive("simulated deaths meanwhile");
    for (std::uint64_t moment = 0; moment < rounds(400, 40); ++moment) {
      sim::options how = watched(nodes);
      how.seed = derive(run_seed(), moment);
      const double later = static_cast<double>(how.seed % 60'000);
      how.faults.deaths = {{1, 40'000}, {3, 40'000 + later}};
      how.faults.noticed_after_ns = 2'000;
      sim::simulation all(sim::model(), algos::catalog(), how);
      std::size_t ended = 0;
      all.run([&](sim::rank& me) { return go_on(me, ended); });
      INFO("rank 3 dies ", later, " ns after rank 1");
      CHECK(ended == 3);
    }
  }
}

TEST_CASE("a mismatch on one team leaves the others whole") {
  for (const auto& nodes : all_layouts()) {
    sim::simulation all(sim::model(), algos::catalog(), watched(nodes));
    std::vector<errc> failed(nodes.size());
    all.run([&](sim::rank& me) -> task<> {
      const auto broken = co_await duplicate(me.team());
      std::array<int, 5> values{};
      try {
        co_await allreduce(*broken, std::span(values).first(me.number() == 1 ? 5 : 4), sum);
        for (int i = 0; i < 3; ++i) co_await barrier(*broken);
      } catch (const error& why) {
        failed[me.number()] = static_cast<errc>(why.code().value());
      }
      co_await barrier(me.team());
      const auto again = co_await duplicate(me.team());
      co_await barrier(*again);
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(failed[rank] == errc::mismatched_call);
      CHECK(text_of(all.rank_at(rank).failure()).empty());
    }
  }
}

TEST_CASE("a rank that dies is missed in the teams it belongs to, and in no other") {
  for (const auto& nodes : all_layouts()) {
    sim::options how = watched(nodes);
    how.faults.deaths.push_back({.rank = 4, .at_ns = 1e6});
    sim::simulation all(sim::model(), algos::catalog(), how);
    all.run([](sim::rank& me) -> task<> {
      const auto with = co_await duplicate(me.team());
      const auto without = co_await split(me.team(), me.number() == 4 ? 1 : 0, 0);
      co_await me.rest(2ms);
      std::array<int, 1> one = {1};
      co_await allreduce(*without, one, sum);
      CHECK(one[0] == 4);
      co_await allreduce(*with, one, sum);
    });
    const auto why = failures(all);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      REQUIRE(why[rank]);
      CHECK(why[rank]->code() == errc::rank_died);
      CHECK(why[rank]->rank() == 4);
    }
  }
}

TEST_CASE("without payload there is nothing to make teams with: refused") {
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = {0, 1}, .payload = false});
  all.run([](sim::rank& me) -> task<> { co_await duplicate(me.team()); });
  for (const auto& why : failures(all)) {
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->text(), "with payload"));
  }
}

}  // namespace
}  // namespace muster::testing
