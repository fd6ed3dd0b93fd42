// Calls that ranks make in different orders, and that begin in one.

#include <muster/api/sequencer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
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

/// Each key's call adds up its own numbers, so that calls that meet another key's are seen.
task<> add_up(sequencer& order, team& of, std::uint64_t key, std::vector<std::int64_t>& values) {
  values.assign(1 + key % 300, static_cast<std::int64_t>(key + of.rank()));
  const auto call = [&] { return allreduce(of, values, sum); };
  co_await order.run(key, call);
}

void check_sum(const team& of, std::uint64_t key, const std::vector<std::int64_t>& values) {
  const auto ranks = static_cast<std::int64_t>(of.size());
  const auto expected = ranks * static_cast<std::int64_t>(key) + ranks * (ranks - 1) / 2;
  CHECK(values == std::vector<std::int64_t>(1 + key % 300, expected));
}

TEST_CASE("calls in any order on any rank meet those of their key") {
  constexpr std::uint64_t calls = 200;
  const std::uint64_t seed = run_seed();
  for (const std::size_t ranks : {1, 2, 3, 5, 8}) {
    for (const thread_options& layout : all_layouts_and_threads(ranks)) {
      const watchdog alive("sequencer");
      run_threads(
          ranks,
          [seed](team& of) {
            sequencer order(of, {.leader = of.size() / 2});
            std::vector<std::uint64_t> keys(calls);
            std::iota(keys.begin(), keys.end(), std::uint64_t{0});
            std::mt19937_64 random(seed + of.rank());
            std::ranges::shuffle(keys, random);
            std::vector<std::vector<std::int64_t>> values(calls);
            std::vector<future<>> running;
            for (const std::uint64_t key : keys) {
              running.push_back(start(of.engine(), add_up(order, of, key, values[key])));
            }
            for (future<>& each : running) each.wait();
            for (std::uint64_t key = 0; key < calls; ++key) check_sum(of, key, values[key]);
            start(barrier(of)).wait();
          },
          layout);
    }
  }
}

TEST_CASE("a key that comes again is another call; results are passed on") {
  const watchdog alive("keys again");
  run_threads(3, [](team& of) {
    sequencer order(of);
    for (int round = 0; round < 50; ++round) {
      const auto add = [&] { return allreduce(of, round + 0.5, sum); };
      auto first = start(of.engine(), order.run(7, add));
      auto second = start(of.engine(), order.run(7, add));
      CHECK(second.wait() == 3 * (round + 0.5));
      CHECK(first.wait() == 3 * (round + 0.5));
      CHECK(order.waiting() == 0);
    }
    start(barrier(of)).wait();
  });
}

/// Sends what rank 1 does not take until there is no room. \returns how many such messages
std::size_t fill_link(team& of, std::span<const std::byte> message,
                      std::vector<future<>>& running) {
  const std::size_t before = running.size();
  do {
    running.push_back(start(of.engine(), of.send(1, 5, message)));
  } while (running.back().ready());
  return running.size() - before;
}

TEST_CASE("more keys than go in one message, which wait for room together") {
  constexpr std::uint64_t calls = 200;
  for (const thread_options& layout : all_layouts(2)) {
    const watchdog alive("keys in several messages");
    std::atomic<std::size_t> fillers = 0;  // once the leader has called all
    run_threads(
        2,
        [&](team& of) {
          const std::vector<std::byte> sent(1000, std::byte{7});
          std::vector<std::byte> received(sent.size());
          sequencer order(of, {.deadline = 0ms});
          std::vector<std::vector<std::int64_t>> values(calls);
          std::vector<future<>> running;
          const auto call = [&](std::uint64_t key) {
            running.push_back(start(of.engine(), add_up(order, of, key, values[key])));
          };
          if (of.rank() == 0) {
            const std::size_t sends = fill_link(of, sent, running);
            for (std::uint64_t key = 0; key < calls; ++key) call(key);
            fillers = sends;
          } else {
            while (fillers == 0) std::this_thread::yield();
            for (std::uint64_t key = calls; key-- > 0;) call(key);
            for (std::size_t i = 0; i < fillers; ++i) {
              CHECK(start(of.engine(), of.receive(0, 5, received)).wait() == sent.size());
              CHECK(received == sent);
            }
          }
          for (future<>& each : running) each.wait();
          for (std::uint64_t key = 0; key < calls; ++key) check_sum(of, key, values[key]);
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("a key that the leader does not call ends after the deadline, and breaks nothing") {
  const watchdog alive("unmatched at the leader");
  run_threads(3, [](team& of) {
    sequencer order(of, {.leader = 1, .deadline = 30ms});
    if (of.rank() != 1) {
      const auto call = [&] { return barrier(of); };
      const auto why = failure_of([&] { start(of.engine(), order.run(41, call)).wait(); });
      REQUIRE(why);
      CHECK(why->code() == errc::deadline_exceeded);
      CHECK(why->rank() == 1);
      CHECK(says(why->what(), "key 41 was not called by rank 1, the leader"));
    }
    start(barrier(of)).wait();
    sequencer again(of);
    const auto add = [&] { return allreduce(of, 1, sum); };
    CHECK(start(of.engine(), again.run(41, add)).wait() == 3);
    start(barrier(of)).wait();
  });
}

TEST_CASE("a key that the leader calls and another rank does not breaks the team") {
  for (const bool has_later_call : {false, true}) {
    const watchdog alive("unmatched elsewhere");
    run_threads(3, [has_later_call](team& of) {
      sequencer order(of, {.deadline = 50ms});
      const auto call = [&] { return barrier(of); };
      const auto both = [&]() -> task<> {
        if (of.rank() != 2) {
          auto first = start(of.engine(), order.run(5, call));
          auto second = start(of.engine(), order.run(6, call));
          co_await first;
          co_await second;
        } else if (has_later_call) {
          co_await order.run(6, call);
        }
      };
      const auto why = failure_of([&] {
        start(of.engine(), both()).wait();
        while (!of.failure()) of.engine().poll();
        of.require_whole();
      });
      REQUIRE(why);
      CHECK(why->code() == errc::deadline_exceeded);
      if (of.rank() != 2 || has_later_call) CHECK(says(why->what(), "key 5"));
    });
  }
}

TEST_CASE("a call that is stopped while it waits for its turn is taken back") {
  const watchdog alive("taken back");
  run_threads(2, [](team& of) {
    sequencer order(of);
    if (of.rank() == 1) {
      std::stop_source stop;
      bool called = false;
      const auto call = [&] {
        called = true;
        return barrier(of);
      };
      auto waits = start(of.engine(), with_stop(stop.get_token(), order.run(9, call)));
      CHECK_FALSE(waits.ready());
      CHECK(order.waiting() == 1);
      stop.request_stop();
      const auto why = failure_of([&] { waits.wait(); });
      REQUIRE(why);
      CHECK(why->code() == errc::stopped);
      CHECK_FALSE(called);
      CHECK(order.waiting() == 0);
    }
    const auto add = [&] { return allreduce(of, 2, sum); };
    CHECK(start(of.engine(), order.run(10, add)).wait() == 4);
    CHECK(!of.failure());
    start(barrier(of)).wait();
  });
}

TEST_CASE("one that is closed takes back what waits, and refuses what comes later") {
  const watchdog alive("closed");
  run_threads(2, [](team& of) {
    sequencer order(of);
    const auto call = [&] { return barrier(of); };
    if (of.rank() == 1) {
      auto waits = start(of.engine(), order.run(9, call));
      CHECK_FALSE(waits.ready());
      order.close();
      const auto why = failure_of([&] { waits.wait(); });
      REQUIRE(why);
      CHECK(why->code() == errc::stopped);
      const auto later = failure_of([&] { start(of.engine(), order.run(10, call)).wait(); });
      REQUIRE(later);
      CHECK(says(later->what(), "it was closed"));
    }
    CHECK(!of.failure());
    start(barrier(of)).wait();
  });
}

TEST_CASE("what is wrong with a call's arguments says which key it was") {
  const watchdog alive("wrong arguments");
  run_threads(2, [](team& of) {
    sequencer order(of);
    std::array<int, 3> odd{};
    std::array<int, 3> result{};
    const auto wrong = [&] { return alltoall(of, odd, result); };
    const auto why = failure_of([&] { start(of.engine(), order.run(3, wrong)).wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->what(), "key 3: alltoall"));
    const auto add = [&] { return allreduce(of, 2, sum); };
    CHECK(start(of.engine(), order.run(4, add)).wait() == 4);
    start(barrier(of)).wait();
  });
}

TEST_CASE("a leader that does not exist") {
  run_threads(2, [](team& of) {
    const auto why = failure_of([&] { const sequencer order(of, {.leader = 2}); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->what(), "leader is 2; expected a rank from 0 to 1"));
  });
}

TEST_CASE("one that nobody uses, and one that is destroyed while it waits") {
  const watchdog alive("unused");
  run_threads(2, [](team& of) {
    {
      const sequencer unused(of);
    }
    {
      sequencer order(of);
      const auto call = [&] { return barrier(of); };
      if (of.rank() == 1) {
        auto waits = start(of.engine(), order.run(1, call));
        CHECK_FALSE(waits.ready());
      }
    }
    CHECK(start(allreduce(of, 1, sum)).wait() == 2);
  });
}

}  // namespace
}  // namespace muster::testing
