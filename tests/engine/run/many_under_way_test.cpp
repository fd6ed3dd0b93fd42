// Far more operations under way than a team has lanes: each waits for its turn behind those before.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t rounds = 150;

/// What one rank has under way, each with a buffer of its own.
struct round {
  std::array<int, 1> summed;    // an exchange
  std::array<int, 1> handed;    // one way
  std::vector<double> lengthy;  // segment by segment
  std::vector<future<>> futures;

  void begin(team& of, std::size_t number) {
    const int rank = static_cast<int>(of.rank());
    const std::size_t root = number % of.size();
    summed = {rank + static_cast<int>(number)};
    handed = {of.rank() == root ? static_cast<int>(number) : -1};
    if (number % 10 == 0) lengthy.assign(30000, static_cast<double>(number));
    futures.push_back(start(barrier(of)));
    futures.push_back(start(allreduce(of, summed, sum)));
    if (!lengthy.empty()) futures.push_back(start(allreduce(of, lengthy, sum)));
    futures.push_back(start(bcast(of, handed, root)));
  }

  void check(const team& of, std::size_t number) {
    for (future<>& each : futures) each.wait();
    const std::size_t ranks = of.size();
    CHECK(summed[0] == static_cast<int>(ranks * (ranks - 1) / 2 + ranks * number));
    CHECK(handed[0] == static_cast<int>(number));
    for (const double value : lengthy) REQUIRE(value == static_cast<double>(ranks * number));
  }
};

const std::array<thread_options, 3> shapes = {
    thread_options{}, {.node_of = {0, 0, 1}}, {.node_of = {0, 1, 2}}};

TEST_CASE("hundreds at once, of all kinds, with a late rank") {
  for (const thread_options& shape : shapes) {
    const watchdog alive("many under way");
    run_threads(
        3,
        [](team& of) {
          if (of.rank() == 2) std::this_thread::sleep_for(20ms);
          std::vector<round> all(rounds);
          for (std::size_t i = 0; i < rounds; ++i) all[i].begin(of, i);
          // The last ones first: they end only after those that they wait behind.
          for (std::size_t i = rounds; i-- > 0;) all[i].check(of, i);
        },
        shape);
  }
}

TEST_CASE("one that has its place begins after others that come after it") {
  for (const thread_options& shape : shapes) {
    const watchdog alive("begun late");
    run_threads(
        3,
        [](team& of) {
          if (of.rank() == 2) std::this_thread::sleep_for(20ms);
          std::vector<future<>> all;
          for (std::size_t i = 0; i < 100; ++i) all.push_back(start(barrier(of)));
          task<> reserved = barrier(of);
          take_place(reserved);
          for (std::size_t i = 0; i < 100; ++i) all.push_back(start(barrier(of)));
          all.push_back(start(of.engine(), std::move(reserved)));
          for (std::size_t i = 0; i < 100; ++i) all.push_back(start(barrier(of)));
          for (future<>& each : all) each.wait();
        },
        shape);
  }
}

TEST_CASE("one of them passes its deadline while it waits behind others") {
  for (const thread_options& shape : shapes) {
    const watchdog alive("deadline of one behind others");
    std::atomic<bool> over = false;
    run_threads(
        3,
        [&](team& of) {
          if (of.rank() != 0) {  // the team is broken for them, too
            while (!over) std::this_thread::sleep_for(1ms);
            CHECK(failure_of([&] { start(barrier(of)).wait(); }));
            return;
          }
          constexpr std::size_t limited = 200;
          std::vector<future<>> all;
          for (std::size_t i = 0; i < limited; ++i) all.push_back(start(barrier(of)));
          all.push_back(start(of.engine(), with_timeout(30ms, barrier(of))));
          for (std::size_t i = 0; i < limited; ++i) all.push_back(start(barrier(of)));
          const auto why = failure_of([&] { all[limited].wait(); });
          over = true;
          REQUIRE(why);
          CHECK(why->code() == errc::deadline_exceeded);
          all.erase(all.begin() + limited);
          for (future<>& each : all) CHECK(failure_of([&] { each.wait(); }));
        },
        shape);
  }
}

TEST_CASE("some that wait behind others are given up, and the engine ends the rest") {
  const watchdog alive("given up");
  run_threads(2, [](team& of) {
    if (of.rank() == 1) return;
    std::vector<future<>> all;
    for (std::size_t i = 0; i < 300; ++i) all.push_back(start(barrier(of)));
    all.erase(all.begin() + 150);
    all.erase(all.begin() + 250, all.end());
    all.erase(all.begin());
    for (future<>& each : all) CHECK(failure_of([&] { each.wait(); }));
  });
}

}  // namespace
}  // namespace muster::testing
