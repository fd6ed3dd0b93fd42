// A collective made ready once and run many times.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/support/says.hpp"

namespace muster::testing {
namespace {

TEST_CASE("a plan runs again and again on the same buffers") {
  run_threads(3, [](team& of) {
    std::array<double, 5> mine{};
    std::array<double, 5> total{};
    plan add(allreduce(of, mine, total, sum));
    for (int round = 0; round < 200; ++round) {
      mine.fill(static_cast<double>(of.rank()) + round);
      start(add.run()).wait();
      for (const double each : total) CHECK(each == 3.0 + 3 * round);
    }
  });
}

TEST_CASE("a plan runs on other buffers") {
  run_threads(3, [](team& of) {
    std::array<std::array<int, 2>, 4> mine{};
    std::array<std::array<int, 2>, 4> total{};
    plan add(allreduce(of, mine[0], total[0], sum));
    for (int round = 0; round < 20; ++round) {
      const auto at = static_cast<std::size_t>(round % 4);
      mine[at].fill(static_cast<int>(of.rank()) + round);
      total[at].fill(-1);
      start(add.run_on(mine[at].data(), total[at].data())).wait();
      for (const int each : total[at]) CHECK(each == 3 + 3 * round);
    }
    start(add.run()).wait();  // on the last ones
    CHECK(total[3][0] == 3 + 3 * 19);
  });
}

TEST_CASE("a plan in place stays so, and others do not become so") {
  run_threads(2, [](team& of) {
    std::array<int, 2> data{};
    plan in_place(allreduce(of, data, sum));
    plan between(allgather(of, std::span(data).first(1), data));
    for (const auto& wrong : {failure_of([&] { (void)in_place.run_on(&data, &data); }),
                              failure_of([&] { (void)between.run_on(nullptr, &data); })}) {
      REQUIRE(wrong);
      CHECK(wrong->code() == errc::invalid_argument);
      CHECK(says(wrong->text(), "plan: run_on: a buffer is null"));
    }
    std::array<int, 2> other = {1, 2};
    start(in_place.run_on(nullptr, &other)).wait();
    CHECK(other == std::array{2, 4});
  });
}

TEST_CASE("ranks with and without a plan meet") {
  run_threads(3, [](team& of) {
    std::vector<int> all(3);
    const std::array<int, 1> mine = {static_cast<int>(of.rank())};
    plan gather_all(allgather(of, mine, all));
    for (int round = 0; round < 20; ++round) {
      if (of.rank() == 1) {
        start(allgather(of, mine, all)).wait();
      } else {
        start(gather_all.run()).wait();
      }
      CHECK(all == std::vector<int>{0, 1, 2});
    }
  });
}

TEST_CASE("several plans are in flight at once") {
  run_threads(4, [](team& of) {
    constexpr std::size_t how_many = 20;
    std::vector<std::vector<int>> data(how_many, std::vector<int>(700));
    std::vector<plan> plans;
    for (auto& each : data) plans.emplace_back(allreduce(of, each, max));
    for (int round = 1; round < 10; ++round) {
      std::vector<future<>> running;
      for (std::size_t i = 0; i < how_many; ++i) {
        std::iota(data[i].begin(), data[i].end(), round * static_cast<int>(of.rank()));
        running.push_back(start(plans[i].run()));
      }
      for (auto it = running.rbegin(); it != running.rend(); ++it) it->wait();
      for (const auto& each : data) CHECK(each[10] == 10 + 3 * round);
    }
  });
}

TEST_CASE("a plan is run once at a time") {
  run_threads(2, [](team& of) {
    plan meet(barrier(of));
    const task<> first = meet.run();
    const auto why = failure_of([&] { static_cast<void>(meet.run()); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->text(), "plan: run again before the last run's end"));
  });
}

TEST_CASE("a run that never began leaves the plan as it was") {
  run_threads(2, [](team& of) {
    plan meet(barrier(of));
    {
      const task<> dropped = meet.run();
    }
    start(meet.run()).wait();
  });
}

TEST_CASE("a plan may be dropped while it runs") {
  run_threads(2, [](team& of) {
    std::array<int, 3> data = {1, 2, 3};
    std::optional<plan> add(allreduce(of, data, sum));
    future<> running = start(add->run());
    add.reset();
    running.wait();
    CHECK(data == std::array<int, 3>{2, 4, 6});
  });
}

/// A coroutine that can be destroyed where it is suspended.
struct droppable {
  struct promise_type : detail::promise_base {
    promise_type(engine& where, stop_scope& scope, plan&) noexcept { place = {&where, &scope}; }
    droppable get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept {}
  };
  std::coroutine_handle<promise_type> frame;
};

droppable run_until_dropped(engine&, stop_scope&, plan& what) { co_await what.run(); }

TEST_CASE("a run that waits for its turn may be dropped") {
  const auto broken = failure_of([] {
    run_threads(2, [](team& of) {
      std::array<int, 1> data = {0};
      plan tell(bcast(of, data, 0));
      if (of.rank() == 1) {
        // Late, so that the root comes to wait for a lane; then it hears that the team is broken.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        start(tell.run()).wait();
        return;
      }
      const auto run = [](plan& what) -> task<> { co_await what.run(); };
      for (std::size_t i = 0; i < wire::lanes; ++i) start(of.engine(), run(tell)).wait();
      stop_scope scope;
      const droppable waits = run_until_dropped(of.engine(), scope, tell);
      CHECK_FALSE(waits.frame.done());
      waits.frame.destroy();
      of.engine().poll();  // nobody is left to be asked
    });
  });
  CHECK(broken);
}

TEST_CASE("a plan is started from another thread than its engine's") {
  run_threads(2,
              [](team& of) {
                std::array<int, 2> data = {1, 2};
                plan most(allreduce(of, data, max));
                for (int i = 0; i < 300; ++i) start(most.run()).wait();
                CHECK(data == std::array<int, 2>{1, 2});
              },
              {.progress = progress::thread});
}

TEST_CASE("a plan keeps its layouts") {
  run_threads(2, [](team& of) {
    std::array<int, 3> all{};
    std::array<int, 3> mine = {1, 2, 3};
    const auto make = [&] {
      const std::vector<std::size_t> counts = {1, 2};
      return plan(allgatherv(of, std::span(mine).first(counts[of.rank()]), all,
                             block_layout{.counts = counts}));
    };
    plan gather_all = make();
    for (int i = 0; i < 3; ++i) start(gather_all.run()).wait();
    CHECK(all == std::array<int, 3>{1, 1, 2});
  });
}

TEST_CASE("only collectives become plans") {
  run_threads(1, [](team& of) {
    const auto something = [](team& on) -> task<> { co_await barrier(on); };
    const auto why = failure_of([&] { const plan none(something(of)); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->text(), "plan: the task is not a collective's own"));
    CHECK(failure_of([] { const plan none{task<>()}; }));
    plan meet(barrier(of));
    CHECK(failure_of([&] { const plan again(meet.run()); }));
    start(meet.run()).wait();
    const plan moved = std::move(meet);
    // NOLINTNEXTLINE(bugprone-use-after-move): what is left of it says so
    CHECK(failure_of([&] { static_cast<void>(meet.run()); }));
  });
}

}  // namespace
}  // namespace muster::testing
