#include <muster/coro/when_all.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/coro/ended_part.hpp>
#include <muster/coro/pooled.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

task<int> give(int value) { co_return value; }
task<std::string> give_text(const gate& after) {
  co_await after.passed();
  co_return "text";
}
task<> note(std::vector<int>& order, int value) {
  order.push_back(value);
  co_return;
}
task<> open(gate& what) {
  what.open();
  co_return;
}
task<> fail(const char* why) {
  throw std::runtime_error(why);
  co_return;
}
task<> fail_after(const gate& when, const char* why) {
  co_await when.passed();
  throw std::runtime_error(why);
}

TEST_CASE("results of several kinds come as a tuple, in the order given") {
  engine here;
  gate first;
  auto all = when_all(give_text(first), give(4), open(first));
  const auto [text, number, nothing] = start(here, std::move(all)).wait();
  CHECK(text == "text");
  CHECK(number == 4);
  CHECK(nothing == std::monostate());
}

TEST_CASE("tasks without results give nothing, and begin in the order given") {
  engine here;
  std::vector<int> order;
  auto all = when_all(note(order, 1), note(order, 2), note(order, 3));
  static_assert(std::is_same_v<decltype(all), task<>>);
  start(here, std::move(all)).wait();
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("a range of tasks gives a range of results") {
  engine here;
  std::vector<task<int>> many;
  for (int i = 0; i < 100; ++i) many.push_back(give(i));
  const std::vector<int> results = start(here, when_all(std::move(many))).wait();
  REQUIRE(results.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(results[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("no tasks at all are done at once") {
  engine here;
  start(here, when_all()).wait();
  start(here, when_all(std::vector<task<>>())).wait();
  CHECK(start(here, when_all(std::vector<task<int>>())).wait().empty());
}

/// How a task that waits for what never comes has ended.
task<> wait_for(const gate& never, std::vector<std::error_code>& ended) {
  try {
    co_await never.passed();
  } catch (const error& why) {
    ended.push_back(why.code());
    throw;
  }
}

TEST_CASE("what has ended already is left out, the others begin in the order given") {
  engine here;
  ended_part over(here);
  std::vector<int> order;
  // One digit of the mask for each task: whether it has ended already.
  for (unsigned mask = 0; mask < 16; ++mask) {
    order.clear();
    std::vector<int> expected;
    pooled_list<task<>> tasks;
    for (int i = 0; i < 4; ++i) {
      if ((mask >> i & 1) != 0) {
        tasks.emplace_back(over);
      } else {
        tasks.push_back(note(order, i));
        expected.push_back(i);
      }
    }
    start(here, when_all(std::move(tasks))).wait();
    CHECK(order == expected);
  }
  order.clear();
  start(here, when_all(task<>(over), note(order, 1))).wait();
  start(here, when_all(note(order, 2), task<>(over))).wait();
  start(here, when_all(task<>(over), task<>(over))).wait();
  CHECK(order == std::vector<int>{1, 2});
  auto failing = when_all(task<>(over), fail("alone"));
  CHECK_THROWS_WITH(start(here, std::move(failing)).wait(), "alone");
}

TEST_CASE("one failing task stops the others, and its error is the one thrown") {
  engine here;
  const gate never;
  std::vector<std::error_code> ended;
  auto all = when_all(wait_for(never, ended), fail("first"), wait_for(never, ended));
  CHECK_THROWS_WITH_AS(start(here, std::move(all)).wait(), "first", std::runtime_error);
  CHECK(ended == std::vector<std::error_code>(2, errc::stopped));
}

TEST_CASE("the same for a range, and the first error by time wins") {
  engine here;
  const gate never;
  gate later;
  std::vector<std::error_code> ended;
  std::vector<task<>> many;
  many.push_back(wait_for(never, ended));
  many.push_back(fail_after(later, "came second in the list, first in time"));
  many.push_back(wait_for(never, ended));
  future<> all = start(here, when_all(std::move(many)));
  CHECK_FALSE(all.ready());
  later.open();
  CHECK_THROWS_WITH_AS(all.wait(), "came second in the list, first in time", std::runtime_error);
  CHECK(ended.size() == 2);
}

TEST_CASE("several failing tasks: the first is thrown") {
  engine here;
  auto all = when_all(fail("one"), fail("two"), fail("three"));
  CHECK_THROWS_WITH_AS(start(here, std::move(all)).wait(), "one", std::runtime_error);
}

task<> fail_inside(const gate& never, std::vector<std::error_code>& ended) {
  auto inner = when_all(wait_for(never, ended), wait_for(never, ended));
  auto outer = when_all(std::move(inner), fail("outside"));
  co_await std::move(outer);
}

TEST_CASE("stopping reaches a when_all inside a when_all") {
  engine here;
  const gate never;
  std::vector<std::error_code> ended;
  CHECK_THROWS_WITH(start(here, fail_inside(never, ended)).wait(), "outside");
  CHECK(ended.size() == 2);
}

task<> go_on_after(const gate& never, std::vector<std::error_code>& ended, bool& went_on) {
  try {
    co_await when_all(wait_for(never, ended), fail("inside"));
  } catch (const std::runtime_error&) {
    went_on = true;
  }
  co_await give(1);  // the failure inside does not stop what comes after it
}

TEST_CASE("a failure is contained where it is caught") {
  engine here;
  const gate never;
  std::vector<std::error_code> ended;
  bool went_on = false;
  start(here, go_on_after(never, ended, went_on)).wait();
  CHECK(went_on);
}

}  // namespace
}  // namespace muster::testing
