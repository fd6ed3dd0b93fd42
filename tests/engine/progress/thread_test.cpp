// An engine with a thread of its own, started from and waited for on others.

#include <doctest/doctest.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <latch>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

const engine_options own_thread = {.progress = progress::thread,
                                   .waiting = waiting_policy::asleep()};

task<std::thread::id> where_am_i() { co_return std::this_thread::get_id(); }

TEST_CASE("coroutines run on the engine's thread, one and the same") {
  const watchdog alive("thread: where");
  engine here(own_thread);
  const auto first = start(here, where_am_i()).wait();
  CHECK(first != std::this_thread::get_id());
  CHECK(start(here, where_am_i()).wait() == first);
}

TEST_CASE("a processor that there is not is refused") {
  for (const int none : {CPU_SETSIZE - 1, 1'000'000}) {
    const auto why = failure_of(
        [none] { const engine here({.progress = progress::thread, .processors = {none}}); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(why->text().find("processors has " + std::to_string(none)) != std::string::npos);
  }
}

TEST_CASE("several threads start operations and wait for them") {
  const watchdog alive("thread: several starters");
  engine here(own_thread);
  gate at;
  at.open();
  std::array<int, 4> sums{};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          sums[static_cast<std::size_t>(t)] += start(here, give_after(at, i)).wait();
        }
      });
    }
  }
  for (const int sum : sums) CHECK(sum == 300 * 299 / 2);
}

TEST_CASE("ready, then and dropped futures from another thread") {
  const watchdog alive("thread: ready");
  engine here(own_thread);
  gate at;
  future<int> result = start(here, give_after(at, 5));
  {
    const future<int> dropped = start(here, give_after(at, 6));
  }
  CHECK_FALSE(result.ready());
  future<int> doubled = std::move(result).then([](int value) { return 2 * value; });
  at.open(here);
  CHECK(doubled.wait() == 10);
}

task<std::error_code> wait_on_own_thread(engine& here, const gate& at) {
  future<int> inner = muster::start(here, give_after(at, 1));
  const auto why = failure_of([&] { inner.wait(); });
  co_return why ? why->code() : std::error_code();
}

TEST_CASE("waiting on the engine's own thread is refused instead of blocking it") {
  const watchdog alive("thread: wait on own thread");
  engine here(own_thread);
  const gate never;
  CHECK(start(here, wait_on_own_thread(here, never)).wait() == errc::invalid_argument);
}

TEST_CASE("an engine that is destroyed ends what is in flight, and whoever waits for it") {
  const watchdog alive("thread: destroyed while others wait");
  const gate never;
  std::error_code ended;
  engine here(own_thread);
  future<int> result = start(here, give_after(never, 1));
  std::jthread waiting([&] {
    if (const auto why = failure_of([&] { result.wait(); })) ended = why->code();
  });
  std::this_thread::sleep_for(20ms);
  here.stop();
  waiting.join();
  CHECK(ended == errc::stopped);
}

task<std::thread::id> where_after(future<int> result) {
  co_await result;
  co_return std::this_thread::get_id();
}

TEST_CASE("who awaits a future of another engine goes on on its own thread, asleep or not") {
  const watchdog alive("thread: awaiting across engines");
  for (const waiting_policy waiting : {waiting_policy::asleep(), waiting_policy::cores_shared()}) {
    for (int i = 0; i < 100; ++i) {
      gate at;
      engine there(own_thread);
      engine here({.waiting = waiting});
      auto result = start(there, give_after(at, i));
      std::jthread opens([&] {
        if (i % 2 == 0) std::this_thread::sleep_for(1ms);
        at.open(there);
      });
      CHECK(start(here, where_after(std::move(result))).wait() == std::this_thread::get_id());
    }
  }
}

TEST_CASE("an engine goes while a future of another one ends") {
  const watchdog alive("thread: gone while it ends");
  for (int i = 0; i < 200; ++i) {
    gate at;
    engine there(own_thread);
    std::jthread opens;
    {
      engine here({.waiting = waiting_policy::asleep()});
      const auto waiting = start(here, where_after(start(there, give_after(at, i))));
      opens = std::jthread([&] { at.open(there); });
      std::this_thread::sleep_for(std::chrono::microseconds(i));
    }
  }
}

task<> occupy(std::latch& occupied, std::latch& released) {
  occupied.count_down();
  released.wait();
  co_return;
}
task<> note(bool& began) {
  began = true;
  co_return;
}

TEST_CASE("what has not begun when the engine is stopped never begins") {
  const watchdog alive("thread: stopped before it began");
  std::latch occupied(1);
  std::latch released(1);
  bool began = false;
  engine here(own_thread);
  auto first = start(here, occupy(occupied, released));
  occupied.wait();
  auto second = start(here, note(began));
  std::jthread releases([&] {
    while (!here.scope().stopped(clock_time(0))) std::this_thread::yield();
    released.count_down();
  });
  here.stop();
  CHECK(!began);
  const auto why = failure_of([&] { second.wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::stopped);
}

TEST_CASE("an engine that is destroyed at once") {
  const watchdog alive("thread: destroyed at once");
  const gate never;
  for (int i = 0; i < 50; ++i) {
    engine here(own_thread);
    {
      const future<int> dropped = start(here, give_after(never, 1));
    }
  }
}

TEST_CASE("collectives of ranks that have progress threads") {
  const watchdog alive("thread: collectives");
  run_threads(3,
              [](team& of) {
                for (int i = 0; i < 200; ++i) {
                  std::array<int, 1> value = {static_cast<int>(of.rank()) + i};
                  future<> sum_of_all = start(allreduce(of, value, sum));
                  future<> after = start(barrier(of));
                  after.wait();
                  sum_of_all.wait();
                  CHECK(value[0] == 3 + 3 * i);
                }
              },
              {.progress = progress::thread});
}

}  // namespace
}  // namespace muster::testing
