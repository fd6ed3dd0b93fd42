// Calls that end at once, calls that do not, and operations that a team keeps from one call to the
// next.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <muster/muster.hpp>
#include <muster/run/context.hpp>
#include <muster/run/operation.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using value = std::array<double, 1>;

/// The sum of the ranks' numbers, each of which is `from` more than its rank.
double expected(const team& of, double from) {
  const auto ranks = static_cast<double>(of.size());
  return ranks * from + ranks * (ranks - 1) / 2;
}
value mine(const team& of, double from) { return {from + static_cast<double>(of.rank())}; }

void check_sum(team& of, double from) {
  value sum_of_all = mine(of, from);
  start(allreduce(of, sum_of_all, sum)).wait();
  CHECK(sum_of_all[0] == expected(of, from));
}

TEST_CASE("each rank comes last in turn") {
  const watchdog alive("each rank comes last");
  for (const std::size_t ranks : {1, 2, 3, 7}) {
    run_threads(ranks, [](team& of) {
      for (std::size_t turn = 0; turn < 3 * of.size(); ++turn) {
        if (turn % of.size() == of.rank()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        check_sum(of, static_cast<double>(turn));
      }
    });
  }
}

task<> await_both(team& of) {
  value first = mine(of, 1);
  value second = mine(of, 2);
  task<> one = allreduce(of, first, sum);
  task<> other = allreduce(of, second, sum);
  co_await std::move(other);
  co_await std::move(one);
  CHECK(first[0] == expected(of, 1));
  CHECK(second[0] == expected(of, 2));
}

TEST_CASE("two calls alike, made before either begins, in the order of their beginnings") {
  const watchdog alive("two calls alike");
  run_threads(3, [](team& of) {
    for (int i = 0; i < 100; ++i) start(of.engine(), await_both(of)).wait();
  });
}

TEST_CASE("two calls alike in flight") {
  const watchdog alive("two calls alike in flight");
  run_threads(3, [](team& of) {
    for (int i = 0; i < 100; ++i) {
      value first = mine(of, 1);
      value second = mine(of, 2);
      future<> one = start(allreduce(of, first, sum));
      future<> other = start(allreduce(of, second, sum));
      other.wait();
      one.wait();
      CHECK(first[0] == expected(of, 1));
      CHECK(second[0] == expected(of, 2));
    }
  });
}

TEST_CASE("a call that is dropped, and the next one like it") {
  run_threads(2, [](team& of) {
    check_sum(of, 1);
    value unused{};
    {
      const task<> dropped = allreduce(of, unused, sum);
    }
    check_sum(of, 2);
  });
}

TEST_CASE("a call like one that is kept becomes a plan") {
  run_threads(2, [](team& of) {
    check_sum(of, 1);
    value planned = mine(of, 2);
    plan kept(allreduce(of, planned, sum));
    check_sum(of, 3);
    start(of.engine(), kept.run()).wait();
    CHECK(planned[0] == expected(of, 2));
    check_sum(of, 4);
  });
}

TEST_CASE("what was chosen since counts for a call like one that is kept") {
  const auto why = failure_of([] {
    run_threads(2, [](team& of) {
      check_sum(of, 1);
      of.choose(collective::allreduce, "ring");
      check_sum(of, 2);
      of.choose(collective::allreduce, of.rank() == 0 ? "ring" : "recursive_doubling");
      check_sum(of, 3);
    });
  });
  REQUIRE(why);
  CHECK(why->code() == errc::mismatched_call);
}

using kept_operation = std::unique_ptr<operation, operation::dropping>;

kept_operation keep(const task<>& collective) {
  kept_operation one(&operation_of(collective, "keep"));
  one->keep(operation::keeper::plan);
  return one;
}

TEST_CASE("an operation that is begun without a task, again and again") {
  const watchdog alive("begun without a task");
  run_threads(2, [](team& of) {
    value data{};
    const kept_operation one = keep(allreduce(of, data, sum));
    for (std::size_t turn = 0; turn < 20; ++turn) {
      if (turn % of.size() == of.rank()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      data = mine(of, static_cast<double>(turn));
      if (task<> rest = one->run_here()) {
        CHECK(one->is_out());
        start(of.engine(), std::move(rest)).wait();
      }
      CHECK(!one->is_out());
      CHECK(data[0] == expected(of, static_cast<double>(turn)));
    }
  });
}

TEST_CASE("a task that outlives its team") {
  std::vector<task<>> left(2);
  std::vector<value> buffers(2);
  run_threads(2, [&](team& of) {
    const std::unique_ptr<team> own = start(of.engine(), duplicate(of)).wait();
    check_sum(*own, 1);
    left[of.rank()] = allreduce(*own, buffers[of.rank()], sum);
    start(barrier(of)).wait();
    if (of.rank() == 0) left[0] = {};
  });
  left.clear();
}

// ---- rows of a program's own

task<> all_meet(context& me, const arguments&) {
  me.arrive();
  co_await me.all_here();
}

bool never(context&, const arguments&) { return false; }
bool after_arrival(context& me, const arguments&) {
  me.arrive();
  return false;
}
bool in_vain(context& me, const arguments&) {
  me.arrive();
  throw error(errc::resource, "in vain");
}

algorithm barrier_with(bool (*at_once)(context&, const arguments&)) {
  return {.id = "own",
          .what = collective::barrier,
          .summary = "a barrier",
          .source = "this test",
          .suits = [](const shape&, const machine&, const arguments&) { return true; },
          .stages = [](const shape&, const machine&, const arguments&) { return stage_kind::none; },
          .run = all_meet,
          .at_once = at_once};
}

void run_barriers(const algorithm& row) {
  const watchdog alive("barriers of a program's own");
  run_threads(3,
              [](team& of) {
                for (int i = 0; i < 50; ++i) start(barrier(of)).wait();
              },
              {.algorithms = std::span(&row, 1)});
}

TEST_CASE("an algorithm that never ends at once, whether it announces its rank or not") {
  run_barriers(barrier_with(never));
  run_barriers(barrier_with(after_arrival));
}

TEST_CASE("what is thrown at once breaks the team") {
  const auto why = failure_of([] { run_barriers(barrier_with(in_vain)); });
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
  CHECK(why->text().find("in vain") != std::string::npos);
}

TEST_CASE("an operation that fails where it is begun without a task") {
  const algorithm row = barrier_with(in_vain);
  const auto why = failure_of([&row] {
    run_threads(2,
                [](team& of) {
                  const kept_operation one = keep(barrier(of));
                  {
                    task<> rest = one->run_here();
                    CHECK(rest.done());
                    CHECK(failure_of([&rest] { rest.take(); }));
                  }
                  CHECK(!one->is_out());
                  of.require_whole();
                },
                {.algorithms = std::span(&row, 1)});
  });
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
}

}  // namespace
}  // namespace muster::testing
