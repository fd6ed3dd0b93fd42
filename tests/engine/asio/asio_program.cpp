// A rank of a job that Boost.Asio drives. Started by `muster run`:
//
//   asio_program example   what the guide shows
//   asio_program idle      rank 1 comes a second late; how much the others computed meanwhile
//   asio_program times     8 bytes: awaited in Asio, beside a program that waits; and how late
//   timers are

#include <sys/resource.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/asio.hpp>

#include "tools/report/statistics.hpp"

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;
using muster::sum;

double computed_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& of) {
    return 1e3 * static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

asio::awaitable<void> example(muster::team& team) {
  using namespace asio::experimental::awaitable_operators;
  std::array<int, 2> mine = {1, static_cast<int>(team.rank())};
  std::array<int, 2> total{};
  co_await muster::asio::async_allreduce(team, mine, total, sum, asio::use_awaitable);
  const double s = co_await muster::asio::async_allreduce(team, 1.5, sum, asio::use_awaitable);
  asio::steady_timer timer(co_await asio::this_coro::executor, 10s);
  co_await (muster::asio::async_barrier(team, asio::use_awaitable) ||
            timer.async_wait(asio::use_awaitable));
  std::printf("rank %zu: %d %d %.1f\n", team.rank(), total[0], total[1], s);
}

asio::awaitable<void> idle(muster::team& team) {
  co_await muster::asio::async_barrier(team, asio::use_awaitable);
  const double before = computed_ms();
  if (team.rank() == 1) {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1s);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_await muster::asio::async_barrier(team, asio::use_awaitable);
  std::printf("rank %zu computed %.1f ms\n", team.rank(), computed_ms() - before);
}

asio::awaitable<void> tick(const bool& over, std::vector<double>& lateness) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  auto due = clock::now();
  while (!over) {
    due += 1ms;
    timer.expires_at(due);
    co_await timer.async_wait(asio::use_awaitable);
    lateness.push_back(microseconds(clock::now() - due).count());
  }
}

asio::awaitable<void> times(muster::team& team, bool& over, const std::vector<double>& lateness) {
  constexpr int calls = 1'000'000;
  std::array<double, 1> value = {1};
  for (int i = 0; i < calls / 10; ++i) {
    co_await muster::asio::async_allreduce(team, value, muster::max, asio::use_awaitable);
  }
  const auto begins = clock::now();
  for (int i = 0; i < calls; ++i) {
    co_await muster::asio::async_allreduce(team, value, muster::max, asio::use_awaitable);
  }
  const double asynchronous = microseconds(clock::now() - begins).count() / calls;
  over = true;
  if (team.rank() != 0) co_return;
  std::printf("allreduce of 8 bytes, awaited in Asio: %.3f us\n", asynchronous);
  if (lateness.empty()) co_return;
  std::printf("a timer each millisecond meanwhile: late by %.0f us, the 99th percentile\n",
              muster::bench::percentile(lateness, 0.99));
}

void run(std::string_view what) {
  asio::io_context io(1);
  muster::asio::world world(io);
  bool over = false;
  std::vector<double> lateness;
  std::exception_ptr failure;
  const auto end = [&failure](std::exception_ptr why) { failure = std::move(why); };
  if (what == "example") asio::co_spawn(io, example(world.team()), end);
  if (what == "idle") asio::co_spawn(io, idle(world.team()), end);
  if (what == "times") {
    asio::co_spawn(io, times(world.team(), over, lateness), end);
    asio::co_spawn(io, tick(over, lateness), asio::detached);
  }
  io.run();
  if (failure) std::rethrow_exception(failure);
}

/// The same calls in a program that waits for each.
void time_plain() {
  muster::world world;
  constexpr int calls = 1'000'000;
  const auto time_calls = [&world](int count) -> muster::task<double> {
    std::array<double, 1> value = {1};
    const auto begins = clock::now();
    for (int i = 0; i < count; ++i) {
      co_await muster::allreduce(world.team(), value, muster::max);
    }
    co_return microseconds(clock::now() - begins).count() / count;
  };
  world.run(time_calls(calls / 10));
  const double took = world.run(time_calls(calls));
  if (world.team().rank() == 0)
    std::printf("allreduce of 8 bytes, progress::caller: %.3f us\n", took);
}

}  // namespace

int main(int count, char** words) try {
  const std::string_view what = count > 1 ? words[1] : "example";
  if (what == "plain") {
    time_plain();
  } else {
    run(what);
  }
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
