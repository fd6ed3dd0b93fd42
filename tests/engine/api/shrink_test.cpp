// A new team from one that may be broken: of all of its ranks, or of those that are alive.

#include <muster/api/shrink.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/layouts.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

/// What each of its ranks was in the old team, in the order of the new one.
std::vector<std::size_t> ranks_in(team& of, std::size_t old_rank) {
  const std::vector<std::size_t> mine = {old_rank};
  std::vector<std::size_t> all(of.size());
  start(allgather(of, mine, all)).wait();
  return all;
}

void check_works(team& of) {
  for (const std::size_t count : {1, 1000, 100'000}) {
    std::vector<double> values(count, 1.5);
    start(allreduce(of, values, sum)).wait();
    CHECK(values.back() == 1.5 * static_cast<double>(of.size()));
  }
  start(barrier(of)).wait();
}

void break_by_deadline(team& of) {
  const auto why = failure_of([&] { start(of.engine(), with_timeout(5ms, barrier(of))).wait(); });
  if (why) CHECK(why->code() == errc::deadline_exceeded);
}

TEST_CASE("of a whole team: the same ranks, and the old one goes on") {
  std::uint64_t number = 0;
  for (const std::size_t ranks : {1, 2, 3, 5, 8, 17}) {
    for (const thread_options& layout : all_layouts(ranks)) {
      if (!is_tried(number++)) continue;
      const watchdog alive("shrink of a whole team");
      run_threads(
          ranks,
          [](team& of) {
            for (int i = 0; i < 3; ++i) {
              const auto rest = start(shrink(of)).wait();
              REQUIRE(rest != nullptr);
              CHECK(rest->rank() == of.rank());
              CHECK(rest->size() == of.size());
              check_works(*rest);
              start(barrier(of)).wait();
            }
          },
          layout);
    }
  }
}

TEST_CASE("of a team that a deadline broke, again and again") {
  std::uint64_t number = 0;
  for (const std::size_t ranks : {2, 3, 8}) {
    for (const thread_options& layout : all_layouts(ranks)) {
      if (!is_tried(number++)) continue;
      const watchdog alive("shrink of a broken team");
      run_threads(
          ranks,
          [](team& of) {
            std::unique_ptr<team> now = start(duplicate(of)).wait();
            for (int i = 0; i < 3; ++i) {
              // Whoever is slow has left the team's last call: it would end with what breaks it.
              start(barrier(of)).wait();
              if (now->rank() == 0) break_by_deadline(*now);
              while (!now->failure()) of.engine().poll();
              const auto why = failure_of([&] { start(barrier(*now)).wait(); });
              REQUIRE(why);
              CHECK(why->code() == errc::deadline_exceeded);
              now = start(shrink(*now)).wait();
              CHECK(!now->failure());
              REQUIRE(now->size() == of.size());
              CHECK(ranks_in(*now, of.rank())[of.rank()] == of.rank());
              check_works(*now);
            }
            start(barrier(of)).wait();
          },
          layout);
    }
  }
}

TEST_CASE("of the job's own team, broken while long blocks were under way") {
  for (const thread_options& layout : all_layouts(4)) {
    const watchdog alive("shrink of the job's team");
    run_threads(
        4,
        [](team& of) {
          std::vector<int> send(4 * 100'000, 1);
          std::vector<int> receive(send.size());
          if (of.rank() != 2) {
            const auto why = failure_of([&] { start(alltoall(of, send, receive)).wait(); });
            REQUIRE(why);
          } else {
            CHECK(failure_of([&] { start(barrier(of)).wait(); }));  // another call than theirs
          }
          const auto rest = start(shrink(of)).wait();
          CHECK(rest->size() == 4);
          check_works(*rest);
          CHECK(of.failure());
        },
        layout);
  }
}

TEST_CASE("of those who are alive, and of those of these") {
  for (const thread_options& layout : all_layouts(5)) {
    const watchdog alive("shrink after deaths");
    std::atomic<int> here{0};
    // Whoever goes does so when the others are done with what it took part in.
    const auto meet = [&here](int all) {
      ++here;
      while (here < all) std::this_thread::yield();
    };
    const auto body = [&meet](team& of) {
      start(barrier(of)).wait();
      meet(5);
      if (of.rank() == 1) throw std::runtime_error("it was the disk");
      const auto why = failure_of([&] {
        for (;;) start(barrier(of)).wait();
      });
      REQUIRE(why);
      CHECK(why->code() == errc::rank_died);
      const auto rest = start(shrink(of)).wait();
      CHECK(ranks_in(*rest, of.rank()) == std::vector<std::size_t>{0, 2, 3, 4});
      check_works(*rest);
      meet(5 + 4);
      if (of.rank() == 4) throw std::runtime_error("and then the network");
      const auto again = failure_of([&] {
        for (;;) start(barrier(*rest)).wait();
      });
      REQUIRE(again);
      CHECK(again->rank() == 3);  // what was 4
      const auto last = start(shrink(*rest)).wait();
      CHECK(ranks_in(*last, of.rank()) == std::vector<std::size_t>{0, 2, 3});
      check_works(*last);
      check_works(*start(split(*last, 0, 0)).wait());
    };
    CHECK_THROWS_AS(run_threads(5, body, layout), std::runtime_error);
  }
}

/// As many teams as there is memory for.
std::vector<std::unique_ptr<team>> fill_memory(team& of) {
  std::vector<std::unique_ptr<team>> all;
  const auto full = failure_of([&] {
    for (;;) all.push_back(start(duplicate(of)).wait());
  });
  CHECK(full->code() == errc::resource);
  return all;
}

TEST_CASE("without memory for another team none is made, and one can be when there is") {
  for (const thread_options& layout :
       std::vector<thread_options>{{},
                                   {.share_address_space = false},
                                   {.node_of = {0, 0, 1}, .network = between_nodes::tcp}}) {
    const watchdog alive("shrink without memory");
    run_threads(
        3,
        [](team& of) {
          std::vector<std::unique_ptr<team>> others = fill_memory(of);
          const auto why = failure_of([&] { start(shrink(of)).wait(); });
          REQUIRE(why);
          CHECK(why->code() == errc::resource);
          const std::string named = "shrink: rank " + std::to_string(why->rank());
          CHECK(says(why->what(), named + " has no memory for another team"));
          CHECK(!of.failure());
          CHECK(ranks_in(of, why->rank()) == std::vector<std::size_t>(3, why->rank()));
          others.clear();
          start(barrier(of)).wait();
          check_works(*start(shrink(of)).wait());
        },
        layout);
  }
}

void check_is_of_survivors(team& rest, std::size_t old_rank) {
  CHECK(ranks_in(rest, old_rank) == std::vector<std::size_t>{0, 1});
  check_works(rest);
}

void check_is_broken(team& all) {
  const auto why = failure_of([&] {
    for (;;) start(barrier(all)).wait();
  });
  REQUIRE(why);
  CHECK(why->code() == errc::rank_died);
}

TEST_CASE("one that ends at any moment of it: the others have a team, the same") {
  for (const thread_options& layout :
       std::vector<thread_options>{{},
                                   {.share_address_space = false},
                                   {.node_of = {0, 0, 1}, .network = between_nodes::tcp}}) {
    for (int polls = 0; polls < 30; ++polls) {
      const watchdog alive("shrink while one ends");
      std::array<std::unique_ptr<team>, 2> made;
      std::barrier<> both(2);
      const auto body = [&](team& of) {
        if (of.rank() == 2) {
          const auto under_way = start(shrink(of));
          for (int i = 0; i < polls; ++i) of.engine().poll();
          throw std::runtime_error("it was the disk");
        }
        made[of.rank()] = start(shrink(of)).wait();
        both.arrive_and_wait();
        REQUIRE(made[0]->size() == made[1]->size());
        team& mine = *made[of.rank()];
        mine.size() == 2 ? check_is_of_survivors(mine, of.rank()) : check_is_broken(mine);
        both.arrive_and_wait();
        made[of.rank()].reset();
      };
      CHECK_THROWS_WITH_AS(run_threads(3, body, layout), "it was the disk", std::runtime_error);
    }
  }
}

TEST_CASE("late ranks are waited for") {
  const watchdog alive("late ranks");
  run_threads(3, [](team& of) {
    std::this_thread::sleep_for(20ms * of.rank());
    CHECK(start(shrink(of)).wait()->size() == 3);
  });
}

TEST_CASE("one that is ended before it completes cannot be tried again") {
  const watchdog alive("ended");
  run_threads(2, [](team& of) {
    const auto copy = start(duplicate(of)).wait();
    if (of.rank() == 0) {
      const auto why =
          failure_of([&] { start(of.engine(), with_timeout(5ms, shrink(*copy))).wait(); });
      REQUIRE(why);
      CHECK(why->code() == errc::deadline_exceeded);
      const auto again = failure_of([&] { start(shrink(*copy)).wait(); });
      REQUIRE(again);
      CHECK(again->code() == errc::invalid_argument);
      CHECK(says(again->what(), "shrink: another call"));
    }
    start(barrier(of)).wait();
  });
}

}  // namespace
}  // namespace muster::testing
