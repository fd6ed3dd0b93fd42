// Stop tokens and deadlines: engine/coro/stop.hpp and engine/progress/within.hpp.

#include <muster/coro/stop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <muster/coro/when_all.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/within.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

task<> pass(const gate& at) { co_await at.passed(); }
task<int> pass_and_give(const gate& at, int value) {
  co_await at.passed();
  co_return value;
}

TEST_CASE("a scope is stopped by itself, its token, its deadline, and by those around it") {
  stop_scope outer;
  stop_scope inner(&outer);
  CHECK_FALSE(inner.stopped(0ns));
  outer.expire_at(100ns);
  CHECK(inner.deadline() == 100ns);
  inner.expire_at(200ns);
  CHECK(inner.deadline() == 100ns);
  inner.expire_at(50ns);
  CHECK(inner.deadline() == 50ns);
  CHECK(outer.deadline() == 100ns);
  CHECK_FALSE(inner.stopped(49ns));
  CHECK(inner.stopped(50ns) == errc::deadline_exceeded);
  CHECK_FALSE(outer.stopped(50ns));
  outer.request_stop();
  CHECK(inner.stopped(0ns) == errc::stopped);

  std::stop_source source;
  stop_scope following;
  following.follow(source.get_token());
  CHECK_FALSE(following.stopped(0ns));
  source.request_stop();
  CHECK(following.stopped(0ns) == errc::stopped);
}

TEST_CASE("a deadline ends a wait, not much too early nor too late") {
  const watchdog alive("deadline");
  engine here;
  const gate never;
  const auto before = clock::now();
  const auto why = failure_of([&] { start(here, with_timeout(50ms, pass(never))).wait(); });
  const auto took = clock::now() - before;
  REQUIRE(why);
  CHECK(why->code() == errc::deadline_exceeded);
  CHECK(took >= 50ms);
  CHECK(took < 500ms);
}

TEST_CASE("work that ends in time is not disturbed, and may go on waiting afterwards") {
  engine here;
  gate opened;
  opened.open();
  CHECK(start(here, with_timeout(1h, pass_and_give(opened, 3))).wait() == 3);
  CHECK(start(here, with_timeout(0ns, pass_and_give(opened, 4))).wait() == 4);
}

task<> timed_then_wait(const gate& opened, const gate& later) {
  co_await with_timeout(20ms, pass(opened));
  co_await later.passed();  // its deadline was the other's
}

TEST_CASE("a deadline ends with the work it was given to") {
  const watchdog alive("deadline ends with its work");
  engine here;
  gate opened;
  gate later;
  opened.open();
  future<> work = start(here, timed_then_wait(opened, later));
  const auto until = clock::now() + 60ms;
  bool ended = false;
  while (clock::now() < until) ended = ended || work.ready();
  CHECK_FALSE(ended);
  later.open();
  work.wait();
}

TEST_CASE("a stop request from another thread ends a wait, asleep or not") {
  const watchdog alive("stop request");
  for (const auto delay : {0ms, 1ms, 30ms}) {
    engine here({.waiting = waiting_policy::asleep()});
    const gate never;
    std::stop_source source;
    future<> work = start(here, with_stop(source.get_token(), pass(never)));
    const std::jthread other([&] {
      std::this_thread::sleep_for(delay);
      source.request_stop();
    });
    const auto why = failure_of([&] { work.wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::stopped);
  }
}

TEST_CASE("a stop that was requested before") {
  engine here;
  const gate never;
  std::stop_source source;
  source.request_stop();
  const auto why =
      failure_of([&] { start(here, with_stop(source.get_token(), pass(never))).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::stopped);
}

TEST_CASE("the nearer of two deadlines counts, and a stop of either scope") {
  const watchdog alive("nested deadlines");
  engine here;
  const gate never;
  const auto before = clock::now();
  auto inner = with_timeout(1h, pass(never));
  auto outer = with_timeout(20ms, std::move(inner));
  const auto why = failure_of([&] { start(here, std::move(outer)).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::deadline_exceeded);
  CHECK(clock::now() - before < 1s);
}

TEST_CASE("a deadline around a when_all ends all of it, inside a when_all only its own") {
  const watchdog alive("deadlines and when_all");
  engine here;
  const gate never;
  auto both = when_all(pass(never), pass(never));
  auto limited = with_timeout(10ms, std::move(both));
  auto why = failure_of([&] { start(here, std::move(limited)).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::deadline_exceeded);

  auto mixed = when_all(with_timeout(10ms, pass(never)), pass(never));
  why = failure_of([&] { start(here, std::move(mixed)).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::deadline_exceeded);
}

}  // namespace
}  // namespace muster::testing
