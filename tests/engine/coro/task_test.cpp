#include <muster/coro/task.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>

#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

task<int> give(int value) { co_return value; }
task<> nothing() { co_return; }
task<int> fail() {
  throw std::runtime_error("as asked");
  co_return 0;
}

task<int> add(int a, int b) {
  const int first = co_await give(a);
  const int second = co_await give(b);
  co_return first + second;
}

TEST_CASE("a task runs when it is awaited, and gives its result") {
  engine here;
  CHECK(start(here, add(2, 3)).wait() == 5);
}

task<int> pass(const gate& at) {
  co_await at.passed();
  co_return 2;
}

TEST_CASE("a task is begun by whoever drives its engine, and awaited by nobody") {
  engine here;
  gate closed;
  task<int> two = pass(closed);
  two.begin({&here, &here.scope()});
  CHECK_FALSE(two.done());
  closed.open();
  here.drive_until([&] { return two.done(); });
  CHECK(two.take() == 2);
  task<int> wrong = fail();
  wrong.begin({&here, &here.scope()});
  REQUIRE(wrong.done());
  CHECK_THROWS_AS(static_cast<void>(wrong.take()), std::runtime_error);
}

task<> mark(bool& ran) {
  ran = true;
  co_return;
}

TEST_CASE("a task that nobody awaits runs nothing") {
  bool ran = false;
  {
    const task<> dropped = mark(ran);
  }
  CHECK_FALSE(ran);
}

TEST_CASE("an empty task is false, and a moved one leaves an empty one behind") {
  task<> empty;
  CHECK_FALSE(static_cast<bool>(empty));
  task<> full = nothing();
  CHECK(static_cast<bool>(full));
  task<> moved = std::move(full);
  CHECK(static_cast<bool>(moved));
  CHECK_FALSE(static_cast<bool>(full));  // NOLINT: that is the test
}

task<std::string> catch_failure() {
  try {
    co_await fail();
  } catch (const std::runtime_error& why) {
    co_return why.what();
  }
  co_return "nothing was thrown";
}

TEST_CASE("what a task throws arrives where it is awaited") {
  engine here;
  CHECK(start(here, catch_failure()).wait() == "as asked");
  CHECK_THROWS_WITH_AS(start(here, fail()).wait(), "as asked", std::runtime_error);
}

task<std::unique_ptr<int>> only_movable() { co_return std::make_unique<int>(7); }
task<int> unwrap() {
  const std::unique_ptr<int> inner = co_await only_movable();
  co_return *inner;
}

TEST_CASE("results that can only be moved") {
  engine here;
  CHECK(start(here, unwrap()).wait() == 7);
  CHECK(*start(here, only_movable()).wait() == 7);
}

struct counted {
  explicit counted(int& alive) : alive_(alive) { ++alive_; }
  ~counted() { --alive_; }
  counted(const counted&) = delete;
  int& alive_;
};

task<> hold(int& alive, const gate& until) {
  const counted here(alive);
  co_await until.passed();
}
task<> hold_in_child(int& alive, const gate& until) {
  const counted here(alive);
  co_await hold(alive, until);
}

TEST_CASE("destroying an engine ends what is suspended and destroys its frames") {
  int alive = 0;
  const gate never;
  {
    engine here;
    start(here, hold_in_child(alive, never)).detach();
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

task<int> descend(int depth) {
  if (depth == 0) co_return 0;
  const int below = co_await descend(depth - 1);
  co_return below + 1;
}

TEST_CASE("tasks nest deeply") {
  engine here;
  CHECK(start(here, descend(1000)).wait() == 1000);
}

task<std::uint64_t> loop(std::uint64_t times) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < times; ++i) total += static_cast<std::uint64_t>(co_await add(1, 1));
  co_return total;
}

TEST_CASE("a long loop of awaits that complete at once needs no stack") {
  engine here;
  CHECK(start(here, loop(200'000)).wait() == 400'000);
}

task<coroutine_place> where_am_i() { co_return co_await this_coroutine{}; }
task<coroutine_place> where_is_my_child() { co_return co_await where_am_i(); }

TEST_CASE("children run where their parents do") {
  engine here;
  const coroutine_place place = start(here, where_is_my_child()).wait();
  CHECK(place.where == &here);
  CHECK(place.scope != nullptr);  // of what was started, in the engine's
}

}  // namespace
}  // namespace muster::testing
