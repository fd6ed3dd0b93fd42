#include <muster/progress/future.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/coro/when_all.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/within.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

TEST_CASE("start runs up to the first wait, ready looks once, wait drives to the end") {
  engine here;
  gate at;
  future<int> result = start(here, give_after(at, 5));
  CHECK(result.valid());
  CHECK_FALSE(result.ready());
  at.open();
  CHECK(result.ready());
  CHECK(result.ready());
  CHECK(result.wait() == 5);
  CHECK_FALSE(result.valid());
}

TEST_CASE("failures are thrown by wait and by co_await") {
  engine here;
  gate at;
  future<> result = start(here, fail_after(at));
  at.open();
  CHECK_THROWS_WITH_AS(result.wait(), "as asked", std::runtime_error);
  CHECK_FALSE(result.valid());
}

task<> set_after(const gate& when, std::shared_ptr<bool> flag) {
  co_await when.passed();
  *flag = true;
}

TEST_CASE("a future that is destroyed stops its operation and waits for its end") {
  for (const progress mode : {progress::caller, progress::thread}) {
    engine here({.progress = mode});
    gate at;
    auto done = std::make_shared<bool>(false);
    {
      const future<> destroyed = start(here, set_after(at, done));
    }
    CHECK(done.use_count() == 1);  // its frame is gone
    at.open();
    here.ring();
    CHECK_FALSE(*done);
  }
}

TEST_CASE("so does one that is assigned to, and one that an exception destroys") {
  engine here;
  gate at;
  auto first = std::make_shared<bool>(false);
  auto second = std::make_shared<bool>(false);
  future<> one = start(here, set_after(at, first));
  one = start(here, set_after(at, second));
  CHECK(first.use_count() == 1);
  CHECK(second.use_count() == 2);
  const auto throws = [&] {
    const future<> mine = std::move(one);
    throw std::runtime_error("as asked");
  };
  CHECK_THROWS_AS(throws(), std::runtime_error);
  CHECK(second.use_count() == 1);
}

TEST_CASE("an operation that goes on after it was asked to stop is waited for") {
  engine here({.progress = progress::thread});
  gate at;
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  const auto goes_on = [](const gate& when, std::atomic<bool>& flag,
                          std::atomic<bool>& first) -> task<> {
    first = true;
    try {
      co_await when.passed();
    } catch (const error&) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag = true;
  };
  {
    const future<> destroyed = start(here, goes_on(at, ended, begun));
    while (!begun) std::this_thread::yield();
  }
  CHECK(ended);
}

TEST_CASE("futures are destroyed in coroutines, on their engine's own thread") {
  for (const progress mode : {progress::caller, progress::thread}) {
    engine here({.progress = mode});
    gate at;
    gate never;
    auto flag = std::make_shared<bool>(false);
    const auto outer = [](engine& on, const gate& when, const gate& not_yet,
                          std::shared_ptr<bool> inner) -> task<> {
      const future<> one = start(on, set_after(not_yet, inner));
      const future<> other = start(on, set_after(not_yet, inner));
      co_await when.passed();
      throw std::runtime_error("as asked");
    };
    future<> whole = start(here, outer(here, at, never, flag));
    at.open();
    here.ring();
    CHECK_THROWS_AS(whole.wait(), std::runtime_error);
    CHECK(flag.use_count() == 1);
  }
}

TEST_CASE("stop requests end the operation, and its future says so") {
  engine here;
  gate at;
  future<int> result = start(here, give_after(at, 5));
  result.request_stop();
  const auto why = failure_of([&] { result.wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::stopped);
}

TEST_CASE("a detached operation runs on, and what is given to it lives as long") {
  for (const progress mode : {progress::caller, progress::thread}) {
    engine here({.progress = mode});
    gate at;
    std::atomic<int> ended = 0;
    const auto count = [](const gate& when, std::atomic<int>& times) -> task<> {
      co_await when.passed();
      ++times;
    };
    const auto kept = std::make_shared<int>(7);
    start(here, count(at, ended)).detach();
    start(here, count(at, ended)).detach(std::shared_ptr<int>(kept));
    CHECK(kept.use_count() == 2);
    at.open();
    here.ring();
    while (ended != 2 || kept.use_count() != 1) {
      if (mode == progress::caller) here.poll();
      std::this_thread::yield();
    }
  }
}

TEST_CASE("an engine that stops ends what was detached before what was kept for it goes") {
  gate at;
  const auto kept = std::make_shared<int>(7);
  const auto looks = [](const gate& when, std::weak_ptr<int> at_end, bool& was_there) -> task<> {
    try {
      co_await when.passed();
    } catch (const error&) {
      was_there = !at_end.expired();
      throw;
    }
  };
  bool was_there = false;
  {
    engine here;
    auto own = std::make_shared<int>(8);
    auto work = looks(at, own, was_there);
    start(here, std::move(work)).detach(std::move(own));
  }
  CHECK(was_there);
}

template <class Future, class... Kept>
concept detachable =
    requires(Future one, Kept&&... kept) { std::move(one).detach(std::forward<Kept>(kept)...); };
static_assert(detachable<future<>>);
static_assert(detachable<future<int>, std::vector<int>, std::string>);
static_assert(!detachable<future<>, std::vector<int>&>);   // stays with its owner
static_assert(!detachable<future<>, std::array<int, 3>>);  // its elements would move

TEST_CASE("then goes on with the result, again and again") {
  engine here;
  gate at;
  future<std::string> text =
      start(here, give_after(at, 5)).then([](int value) { return value * 2; }).then([](int value) {
        return std::to_string(value);
      });
  CHECK_FALSE(text.ready());
  at.open();
  CHECK(text.wait() == "10");
}

TEST_CASE("then after an operation without a result, and one that has ended") {
  engine here;
  gate at;
  at.open();
  bool called = false;
  start(here, at.is_open() ? give_after(at, 1) : give_after(at, 2))
      .then([&called](int) { called = true; })
      .then([] {})
      .wait();
  CHECK(called);
}

TEST_CASE("a failure passes by then to the last future") {
  engine here;
  gate at;
  bool called = false;
  future<int> last = start(here, fail_after(at)).then([&called] {
    called = true;
    return 1;
  });
  at.open();
  CHECK_THROWS_AS(last.wait(), std::runtime_error);
  CHECK_FALSE(called);
}

TEST_CASE("what then's function throws arrives at its future") {
  engine here;
  gate at;
  at.open();
  future<> last = start(here, give_after(at, 1)).then([](int) { throw std::logic_error("mine"); });
  CHECK_THROWS_WITH_AS(last.wait(), "mine", std::logic_error);
}

task<int> sum_of(future<int> a, future<int> b) {
  const int first = co_await a;
  const int second = co_await b;
  co_return first + second;
}

TEST_CASE("futures are awaited, before and after their end") {
  engine here;
  gate one;
  gate two;
  future<int> a = start(here, give_after(one, 1));
  future<int> b = start(here, give_after(two, 2));
  two.open();
  CHECK(b.ready());
  future<int> sum = start(here, sum_of(std::move(a), std::move(b)));
  CHECK_FALSE(sum.ready());
  one.open();
  CHECK(sum.wait() == 3);
}

task<errc> give_up_waiting(future<int>& result) {
  const auto patient = [](future<int>& what) -> task<int> { co_return co_await what; };
  auto limited = with_timeout(std::chrono::milliseconds(5), patient(result));
  try {
    co_await std::move(limited);
  } catch (const error& why) {
    co_return static_cast<errc>(why.code().value());
  }
  co_return errc::resource;
}

TEST_CASE("a deadline ends the wait for a future, and not its operation") {
  engine here;
  gate at;
  future<int> result = start(here, give_after(at, 3));
  CHECK(start(here, give_up_waiting(result)).wait() == errc::deadline_exceeded);
  CHECK(result.valid());
  CHECK_FALSE(result.ready());
  at.open();
  const auto again = [](future<int>& what) -> task<int> { co_return co_await what; };
  CHECK(start(here, again(result)).wait() == 3);
}

TEST_CASE("an awaiting coroutine whose engine is gone is not resumed") {
  engine here;
  gate at;
  future<int> result = start(here, give_after(at, 3));
  bool resumed = false;
  const auto await_it = [](future<int>& what, bool& went_on) -> task<> {
    co_await what;
    went_on = true;
  };
  {
    engine other;
    const future<> waiting = start(other, await_it(result, resumed));
  }  // stops it
  CHECK_FALSE(resumed);
  at.open();
  CHECK(result.wait() == 3);
}

/// A coroutine of somebody else's, of which no engine knows.
struct foreign {
  struct promise_type {
    foreign get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

foreign await_from_outside(future<int>& result, int& got) { got = co_await result; }

TEST_CASE("a foreign coroutine goes on where the future's engine is driven") {
  engine here;
  gate at;
  future<int> result = start(here, give_after(at, 7));
  int got = 0;
  await_from_outside(result, got);
  CHECK(got == 0);
  at.open();
  here.poll();
  CHECK(got == 7);
  future<int> ended = start(here, give_after(at, 8));
  await_from_outside(ended, got);
  CHECK(got == 8);
}

TEST_CASE("futures of results that can only be moved") {
  engine here;
  const auto make = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  future<std::unique_ptr<int>> result = start(here, make());
  CHECK(*result.wait() == 3);
  CHECK(start(here, make()).then([](std::unique_ptr<int> p) { return *p; }).wait() == 3);
}

TEST_CASE("start without an engine says what it expects") {
  gate at;
  const auto why = failure_of([&] { start(give_after(at, 1)).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(std::string(why->what()).find("start(engine, task)") != std::string::npos);
}

TEST_CASE("many operations at once, ended in any order") {
  engine here;
  std::vector<std::unique_ptr<gate>> gates;
  std::vector<future<int>> results;
  for (int i = 0; i < 200; ++i) {
    gates.push_back(std::make_unique<gate>());
    results.push_back(start(here, give_after(*gates.back(), i)));
  }
  for (std::size_t i = 0; i < gates.size(); i += 2) gates[i]->open();
  here.poll();
  for (std::size_t i = 0; i < gates.size(); ++i) CHECK(results[i].ready() == (i % 2 == 0));
  for (std::size_t i = 199; i < gates.size(); i -= 2) gates[i]->open();
  for (std::size_t i = 0; i < gates.size(); ++i) CHECK(results[i].wait() == static_cast<int>(i));
}

TEST_CASE("an engine that dies ends what is in flight as stopped") {
  std::error_code ended;
  const auto work = [](const gate& at, std::error_code& code) -> task<> {
    try {
      co_await at.passed();
    } catch (const error& why) {
      code = why.code();
      throw;
    }
  };
  const gate never;
  {
    engine here;
    const future<> one = start(here, work(never, ended));
    here.stop();
    CHECK(ended == errc::stopped);
  }
  ended = {};
  {
    engine here;
    {
      const future<> dropped = start(here, work(never, ended));
    }
  }
  CHECK(ended == errc::stopped);
}

}  // namespace
}  // namespace muster::testing
