// Scopes of operations, and tasks as senders.

#include <muster/progress/scope.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <muster/progress/engine.hpp>
#include <muster/progress/sender.hpp>
#include <muster/progress/within.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::array modes = {progress::caller, progress::thread};

task<> count_after(const gate& at, std::atomic<int>& count) {
  co_await at.passed();
  ++count;
}

TEST_CASE("join completes when all has ended, also what was spawned meanwhile") {
  for (const progress mode : modes) {
    engine here({.progress = mode});
    gate at;
    std::atomic<int> count = 0;
    muster::scope all(here);
    for (int i = 0; i < 10; ++i) all.spawn(count_after(at, count));
    future<> joined = start(here, all.join());
    CHECK(all.size() == 10);
    all.spawn(give_after(at, 3));
    CHECK_FALSE(joined.ready());
    at.open();
    here.ring();
    joined.wait();
    CHECK(count == 10);
    CHECK(all.size() == 0);
    all.spawn(count_after(at, count));
    start(here, all.join()).wait();
    CHECK(count == 11);
  }
}

TEST_CASE("one that fails is told by join, once, and ends no other") {
  engine here;
  gate at;
  gate later;
  std::atomic<int> count = 0;
  muster::scope all(here);
  all.spawn(fail_after(at));
  all.spawn(count_after(later, count));
  at.open();
  here.poll();
  CHECK(all.size() == 1);
  later.open();
  CHECK_THROWS_WITH_AS(start(here, all.join()).wait(), "as asked", std::runtime_error);
  CHECK(count == 1);
  start(here, all.join()).wait();
}

TEST_CASE("request_stop ends what is under way, and what is spawned later") {
  for (const progress mode : modes) {
    engine here({.progress = mode});
    gate at;
    std::atomic<int> count = 0;
    muster::scope all(here);
    for (int i = 0; i < 3; ++i) all.spawn(count_after(at, count));
    all.request_stop();
    all.spawn(count_after(at, count));
    const auto why = failure_of([&] { start(here, all.join()).wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::stopped);
    CHECK(count == 0);
  }
}

TEST_CASE("a scope that goes stops what is under way, and waits for its end") {
  for (const progress mode : modes) {
    engine here({.progress = mode});
    gate at;
    const auto uses = std::make_shared<std::atomic<int>>(0);
    const auto work = [](const gate& when, std::shared_ptr<std::atomic<int>> what) -> task<> {
      co_await when.passed();
      ++*what;
    };
    const auto leaves = [&] {
      muster::scope all(here);
      for (int i = 0; i < 5; ++i) all.spawn(work(at, uses));
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_AS(leaves(), std::runtime_error);
    CHECK(uses.use_count() == 1);
    CHECK(*uses == 0);
  }
}

TEST_CASE("a deadline ends the wait for a scope, and not its operations") {
  engine here;
  gate at;
  std::atomic<int> count = 0;
  muster::scope all(here);
  all.spawn(count_after(at, count));
  const auto why = failure_of([&] { start(here, with_timeout(5ms, all.join())).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::deadline_exceeded);
  CHECK(all.size() == 1);
  at.open();
  start(here, all.join()).wait();
  CHECK(count == 1);
}

TEST_CASE("spawned from several threads, on an engine with a thread of its own") {
  engine here({.progress = progress::thread});
  gate at;
  at.open();
  std::atomic<int> count = 0;
  muster::scope all(here);
  {
    std::array<std::jthread, 4> threads;
    for (std::jthread& each : threads) {
      each = std::jthread([&] {
        for (int i = 0; i < 100; ++i) all.spawn(count_after(at, count));
      });
    }
  }
  start(here, all.join()).wait();
  CHECK(count == 400);
}

// ---- senders

template <class T>
struct told {
  std::optional<T> value;
  std::exception_ptr failure;
  bool stopped = false;
};

template <class T>
struct receiver {
  told<T>* by;
  void set_value(T value) noexcept { by->value = value; }
  void set_error(std::exception_ptr why) noexcept { by->failure = std::move(why); }
  void set_stopped() noexcept { by->stopped = true; }
};
struct void_receiver {
  told<int>* by;
  void set_value() noexcept { by->value = 1; }
  void set_error(std::exception_ptr why) noexcept { by->failure = std::move(why); }
  void set_stopped() noexcept { by->stopped = true; }
};

TEST_CASE("a task as a sender: runs once it is started, and tells its receiver") {
  engine here;
  gate at;
  told<int> end;
  auto operation = as_sender(here, give_after(at, 5)).connect(receiver<int>{&end});
  at.open();
  here.poll();
  CHECK_FALSE(end.value);
  operation.start();
  CHECK(end.value == 5);

  told<int> nothing;
  std::atomic<int> count = 0;
  auto counts = as_sender(here, count_after(at, count)).connect(void_receiver{&nothing});
  counts.start();
  CHECK(nothing.value == 1);
}

TEST_CASE("a sender's errors and stops") {
  gate at;
  told<int> failed;
  told<int> stopped;
  {
    engine here;
    auto fails = as_sender(here, fail_after(at)).connect(void_receiver{&failed});
    fails.start();
    at.open();
    here.poll();
    CHECK(failed.failure);
  }
  gate never;
  auto here = std::make_unique<engine>();
  auto stops = as_sender(*here, give_after(never, 1)).connect(receiver<int>{&stopped});
  stops.start();
  here.reset();
  CHECK(stopped.stopped);
  engine other;
  const auto why = failure_of([&] { static_cast<void>(as_sender(give_after(at, 1))); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
}

static_assert(receiver_of<void_receiver, void>);
static_assert(!receiver_of<int, void>);

}  // namespace
}  // namespace muster::testing
