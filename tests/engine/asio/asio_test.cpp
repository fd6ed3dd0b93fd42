// Collectives as asynchronous operations of Boost.Asio: every kind of token, values and buffers,
// cancellation, several threads on one context, work.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <muster/api/split.hpp>
#include <muster/asio.hpp>
#include <muster/muster.hpp>

#include "tests/support/says.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

/// A rank's thread with a context of its own, by which its engine is driven.
class driven {
public:
  explicit driven(team& of)
      : driver_(std::make_shared<muster::asio::driver>(io, of.engine())), engine_(of.engine()) {
    engine_.be_driven_by(driver_.get());
  }
  ~driven() {
    driver_->close();
    engine_.be_driven_by(nullptr);
  }
  driven(const driven&) = delete;
  driven& operator=(const driven&) = delete;

  asio::io_context io;

private:
  std::shared_ptr<muster::asio::driver> driver_;
  engine& engine_;
};

using rank_program = std::function<asio::awaitable<void>(team&, asio::io_context&)>;

/// Runs a coroutine on each rank, to its end.
void run_ranks(std::size_t ranks, const rank_program& program) {
  run_threads(ranks,
              [&program](team& of) {
                driven by(of);
                std::exception_ptr failure;
                asio::co_spawn(by.io, program(of, by.io),
                               [&failure](std::exception_ptr why) { failure = std::move(why); });
                by.io.run();
                if (failure) std::rethrow_exception(failure);
              },
              {.progress = progress::external});
}

TEST_CASE("every collective, awaited") {
  const watchdog alive("asio: every collective");
  run_ranks(3, [](team& on, asio::io_context&) -> asio::awaitable<void> {
    namespace m = muster::asio;
    constexpr auto& token = asio::use_awaitable;
    const int me = static_cast<int>(on.rank());
    std::array<int, 1> one = {me};
    std::array<int, 3> three = {10 * me, 10 * me + 1, 10 * me + 2};
    std::array<int, 3> all{};
    std::array<int, 1> mine{};

    co_await m::async_barrier(on, token);
    co_await m::async_allreduce(on, one, mine, sum, token);
    CHECK(mine[0] == 3);
    co_await m::async_reduce(on, one, mine, max, 1, token);
    if (me == 1) CHECK(mine[0] == 2);
    co_await m::async_allgather(on, one, all, token);
    CHECK(all == std::array<int, 3>{0, 1, 2});
    co_await m::async_gather(on, one, all, 2, token);
    co_await m::async_scatter(on, three, mine, 1, token);
    CHECK(mine[0] == 10 + me);
    co_await m::async_alltoall(on, three, all, token);
    CHECK(all == std::array<int, 3>{me, 10 + me, 20 + me});
    co_await m::async_reduce_scatter_block(on, three, mine, sum, token);
    CHECK(mine[0] == 30 + 3 * me);
    co_await m::async_scan(on, one, mine, sum, token);
    CHECK(mine[0] == me * (me + 1) / 2);
    std::array<int, 1> root = {me + 5};
    co_await m::async_bcast(on, root, 2, token);
    CHECK(root[0] == 7);
    // Spans that are made for the call, in place.
    co_await m::async_allreduce(on, std::span(three), sum, token);
    CHECK(three[0] == 30);
  });
}

TEST_CASE("a value in, a value out") {
  const watchdog alive("asio: values");
  run_ranks(3, [](team& on, asio::io_context&) -> asio::awaitable<void> {
    namespace m = muster::asio;
    constexpr auto& token = asio::use_awaitable;
    const int me = static_cast<int>(on.rank());
    const double total = co_await m::async_allreduce(on, 1.5, sum, token);
    CHECK(total == 4.5);
    const int from = co_await m::async_bcast(on, me, 1, token);
    CHECK(from == 1);
    const std::vector<int> everybody = co_await m::async_allgather(on, me, token);
    CHECK(everybody == std::vector<int>{0, 1, 2});
    std::vector<int> blocks = {10 * me, 10 * me + 1, 10 * me + 2};
    const std::vector<int> received = co_await m::async_alltoall(on, std::move(blocks), token);
    CHECK(received == std::vector<int>{me, 10 + me, 20 + me});
  });
}

TEST_CASE("callbacks, futures, deferred, tuples, groups and operators") {
  const watchdog alive("asio: tokens");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    namespace m = muster::asio;
    bool called = false;
    m::async_allreduce(on, 2, sum,
                       [&called](error_code why, int value) { called = !why && value == 4; });
    auto later = m::async_allreduce(on, 3, sum, asio::deferred);
    CHECK(co_await std::move(later)(asio::use_awaitable) == 6);
    CHECK(called);
    const auto [why, value] =
        co_await m::async_allreduce(on, 4, sum, asio::as_tuple(asio::use_awaitable));
    CHECK_FALSE(why);
    CHECK(value == 8);

    auto [order, first_why, first, second_why, second] =
        co_await asio::experimental::make_parallel_group(
            m::async_allreduce(on, 5, sum, asio::deferred),
            m::async_allreduce(on, 6, sum, asio::deferred))
            .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    CHECK(first == 10);
    CHECK(second == 12);

    using namespace asio::experimental::awaitable_operators;
    const auto [seventh, eighth] = co_await (m::async_allreduce(on, 7, sum, asio::use_awaitable) &&
                                             m::async_allreduce(on, 8, sum, asio::use_awaitable));
    CHECK(seventh == 14);
    CHECK(eighth == 16);

    std::future<int> promised = m::async_allreduce(on, 9, sum, asio::use_future);
    asio::steady_timer tick(io);
    while (promised.wait_for(0s) != std::future_status::ready) {
      tick.expires_after(1ms);
      co_await tick.async_wait(asio::use_awaitable);
    }
    CHECK(promised.get() == 18);
  });
}

TEST_CASE("wrong arguments complete the call with what is wrong, and break nothing") {
  const watchdog alive("asio: wrong arguments");
  run_ranks(2, [](team& on, asio::io_context&) -> asio::awaitable<void> {
    std::array<int, 2> two{};
    std::array<int, 3> three{};
    const auto [why] = co_await muster::asio::async_allreduce(on, two, three, sum,
                                                              asio::as_tuple(asio::use_awaitable));
    CHECK(why == errc::invalid_argument);
    CHECK(why == std::errc::invalid_argument);
    CHECK(co_await muster::asio::async_allreduce(on, 1, sum, asio::use_awaitable) == 2);
  });
}

TEST_CASE("terminal cancellation breaks the team, weaker ones are ignored; all ranks learn why") {
  const watchdog alive("asio: cancellation");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    asio::steady_timer later(io, 20ms);
    if (on.rank() == 1) {
      co_await later.async_wait(asio::use_awaitable);
      const auto [why] = co_await muster::asio::async_barrier(on, token);
      CHECK(why);
      CHECK(on.failure());
      co_return;
    }
    CHECK_FALSE(on.failure());
    asio::cancellation_signal stop;
    std::optional<error_code> ended;
    muster::asio::async_barrier(
        on, asio::bind_cancellation_slot(stop.slot(), [&ended](error_code why) { ended = why; }));
    stop.emit(asio::cancellation_type::partial);
    later.expires_after(1ms);
    co_await later.async_wait(asio::use_awaitable);
    CHECK_FALSE(ended);
    stop.emit(asio::cancellation_type::terminal);
    later.expires_after(1ms);
    while (!ended) {
      later.expires_after(1ms);
      co_await later.async_wait(asio::use_awaitable);
    }
    CHECK(*ended == errc::stopped);
    REQUIRE(on.failure());
    CHECK(on.failure()->code() == errc::stopped);
    CHECK(on.failure()->rank() == 0);
    CHECK(says(on.failure()->what(), "barrier"));
    CHECK(*ended == std::errc::operation_canceled);
    const auto [why] = co_await muster::asio::async_barrier(on, token);
    CHECK(why);
  });
}

TEST_CASE("a call or a timer, whichever comes first") {
  const watchdog alive("asio: or");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer limit(io, 10s);
    const auto first = co_await (muster::asio::async_barrier(on, asio::use_awaitable) ||
                                 limit.async_wait(asio::use_awaitable));
    CHECK(first.index() == 0);
    if (on.rank() == 1) co_return;
    limit.expires_after(5ms);
    const auto second = co_await (muster::asio::async_barrier(on, asio::use_awaitable) ||
                                  limit.async_wait(asio::use_awaitable));
    CHECK(second.index() == 1);
  });
}

TEST_CASE("calls that begin in another order on each rank, by their keys") {
  const watchdog alive("asio: in order");
  run_ranks(3, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    sequencer order(on, {.leader = 1});
    constexpr int calls = 60;
    int ended = 0;
    for (int i = 0; i < calls; ++i) {
      const int key = (i * 7 + static_cast<int>(on.rank()) * 11) % calls;
      const auto add = [&on, key] { return allreduce(on, key, sum); };
      muster::asio::async_in_order(order, static_cast<std::uint64_t>(key), add,
                                   [&ended, key](error_code why, int total) {
                                     CHECK(!why);
                                     CHECK(total == 3 * key);
                                     ++ended;
                                   });
    }
    asio::steady_timer later(io);
    while (ended != calls) {
      later.expires_after(1ms);
      co_await later.async_wait(asio::use_awaitable);
    }
    co_await muster::asio::async_barrier(on, asio::use_awaitable);
  });
}

TEST_CASE("a call that waits for its turn is taken back by any cancellation") {
  const watchdog alive("asio: taken back");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    sequencer order(on);
    if (on.rank() == 1) {
      asio::cancellation_signal stop;
      std::optional<error_code> ended;
      const auto call = [&on] { return barrier(on); };
      muster::asio::async_in_order(
          order, 5, call,
          asio::bind_cancellation_slot(stop.slot(), [&ended](error_code why) { ended = why; }));
      asio::steady_timer later(io, 2ms);
      co_await later.async_wait(asio::use_awaitable);
      CHECK_FALSE(ended);
      stop.emit(asio::cancellation_type::partial);
      while (!ended) {
        later.expires_after(1ms);
        co_await later.async_wait(asio::use_awaitable);
      }
      CHECK(*ended == errc::stopped);
    }
    CHECK_FALSE(on.failure());
    co_await muster::asio::async_barrier(on, asio::use_awaitable);
  });
}

TEST_CASE("any task: a new team from a broken one, messages") {
  const watchdog alive("asio: any task");
  run_ranks(3, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    constexpr auto& token = asio::use_awaitable;
    if (on.rank() == 0) {
      asio::steady_timer limit(io, 5ms);
      co_await (muster::asio::async_barrier(on, token) || limit.async_wait(token));
    }
    asio::steady_timer later(io);
    while (!on.failure()) {
      later.expires_after(1ms);
      co_await later.async_wait(token);
    }
    const std::unique_ptr<team> rest = co_await muster::asio::async_run(on, shrink(on), token);
    REQUIRE(rest->size() == 3);
    CHECK(co_await muster::asio::async_allreduce(*rest, 1, sum, token) == 3);
    std::array<int, 2> mine = {static_cast<int>(on.rank()), 7};
    std::array<int, 2> got{};
    const std::size_t next = (rest->rank() + 1) % 3;
    const std::size_t before = (rest->rank() + 2) % 3;
    co_await muster::asio::async_run(*rest, rest->send(next, 1, mine), token);
    CHECK(co_await muster::asio::async_run(*rest, rest->receive(before, 1, got), token) == 2);
    CHECK(got == std::array<int, 2>{static_cast<int>(before), 7});
    co_await muster::asio::async_barrier(*rest, token);
  });
}

TEST_CASE("a late rank wakes the others") {
  const watchdog alive("asio: late");
  run_threads(2,
              [](team& of) {
                driven by(of);
                for (int i = 0; i < 20; ++i) {
                  if (i % 2 == static_cast<int>(of.rank())) std::this_thread::sleep_for(3ms);
                  int got = 0;
                  muster::asio::async_allreduce(
                      of, 1, sum, [&got](error_code why, int value) { got = why ? 0 : value; });
                  by.io.run();
                  by.io.restart();
                  CHECK(got == 2);
                }
              },
              {.progress = progress::external});
}

TEST_CASE("several threads run one context, calls begin on one strand, in order") {
  const watchdog alive("asio: threads");
  run_threads(3,
              [](team& of) {
                driven by(of);
                std::atomic<int> right{0};
                // Which of two calls is the first on each rank shows in what they give.
                const auto calls = [](team& on, std::atomic<int>& count) -> asio::awaitable<void> {
                  const auto add = [&count](int expected) {
                    return [&count, expected](error_code why, int got) {
                      if (!why && got == expected) ++count;
                    };
                  };
                  for (int i = 0; i < 300; ++i) {
                    muster::asio::async_allreduce(on, -i, sum, add(-3 * i));
                    const int got =
                        co_await muster::asio::async_allreduce(on, i, sum, asio::use_awaitable);
                    if (got == 3 * i) ++count;
                  }
                };
                const auto strand = asio::make_strand(by.io);
                asio::co_spawn(strand, calls(of, right), asio::detached);
                std::thread other([&by] { by.io.run(); });
                by.io.run();
                other.join();
                CHECK(right == 600);
              },
              {.progress = progress::external});
}

TEST_CASE("calls that all end at once leave others their turn") {
  const watchdog alive("asio: turns");
  run_ranks(1, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    bool is_over = false;
    asio::steady_timer limit(io, 2ms);
    limit.async_wait([&is_over](error_code) { is_over = true; });
    const auto begins = std::chrono::steady_clock::now();
    while (!is_over && std::chrono::steady_clock::now() - begins < 10s) {
      co_await muster::asio::async_barrier(on, asio::use_awaitable);
    }
    CHECK(is_over);
  });
}

TEST_CASE("an awaited call throws Asio's error, whether it ends at once or later") {
  const watchdog alive("asio: throws");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    std::array<int, 2> two{};
    std::array<int, 3> three{};
    CHECK_THROWS_AS(
        co_await muster::asio::async_allreduce(on, two, three, sum, asio::use_awaitable),
        boost::system::system_error);
    // Another call than the one that waits fails both.
    if (on.rank() == 0) {
      CHECK_THROWS_AS(co_await muster::asio::async_barrier(on, asio::use_awaitable),
                      boost::system::system_error);
      co_return;
    }
    asio::steady_timer later(io, 2ms);
    co_await later.async_wait(asio::use_awaitable);
    CHECK_THROWS_AS(co_await muster::asio::async_allreduce(on, 1, sum, asio::use_awaitable),
                    boost::system::system_error);
  });
}

TEST_CASE("a call that is canceled by what it is just beginning") {
  const watchdog alive("asio: canceled while it begins");
  run_ranks(2, [](team& on, asio::io_context& io) -> asio::awaitable<void> {
    if (on.rank() == 1) {
      const auto [why] =
          co_await muster::asio::async_barrier(on, asio::as_tuple(asio::use_awaitable));
      CHECK(why);
      co_return;
    }
    asio::cancellation_signal stop;
    auto work = [](team& of, asio::cancellation_signal& by) -> task<> {
      by.emit(asio::cancellation_type::terminal);
      std::array<int, 1> never{};
      co_await of.receive(1, 7, never);
    };
    std::optional<error_code> ended;
    muster::asio::async_run(
        on, work(on, stop),
        asio::bind_cancellation_slot(stop.slot(), [&ended](error_code why) { ended = why; }));
    asio::steady_timer later(io);
    while (!ended) {
      later.expires_after(1ms);
      co_await later.async_wait(asio::use_awaitable);
    }
    CHECK(*ended == errc::stopped);
    const auto [why, none] =
        co_await muster::asio::async_allreduce(on, 1, sum, asio::as_tuple(asio::use_awaitable));
    CHECK(why);  // another call than the other rank's
  });
}

TEST_CASE("several threads, and a thread that calls while another is at the engine") {
  const watchdog alive("asio: left to the one that is there");
  muster::asio::one_at_a_time serial;
  int sum = 0;
  int tried = 0;  // as `sum`, by who is alone
  std::atomic<int> ended{0};
  std::atomic<int> alone{0};
  const auto work = [&] {
    for (int i = 0; i < 10'000; ++i) {
      serial.run([&] {
        ++sum;
        serial.run([&] { ++sum; });  // at once
        ++ended;
      });
      if (serial.try_run([&] { ++tried; })) ++alone;
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(ended == 20'000);
  CHECK(sum == 40'000);
  CHECK(tried == alone);
}

TEST_CASE("a team that no context drives is refused") {
  run_threads(1, [](team& of) {
    CHECK_THROWS_AS(muster::asio::async_barrier(of, [](error_code) {}), error);
  });
}

TEST_CASE("a process alone: the world, and run returns when only that is left") {
  asio::io_context io;
  muster::asio::world world(io);
  CHECK(world.team().size() == 1);
  io.run();
  io.restart();
  double got = 0;
  asio::co_spawn(
      io,
      [&]() -> asio::awaitable<void> {
        got = co_await muster::asio::async_allreduce(world.team(), 1.5, sum, asio::use_awaitable);
      },
      asio::detached);
  io.run();
  CHECK(got == 1.5);
}

}  // namespace
}  // namespace muster::testing
