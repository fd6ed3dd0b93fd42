#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>

#include <muster/asio.hpp>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

int main() {
  asio::io_context io;
  muster::asio::world world(io);
  muster::team& team = world.team();

  const auto program = [&]() -> asio::awaitable<void> {
    std::array<int, 2> mine = {1, 2};
    std::array<int, 2> total{};
    co_await muster::asio::async_allreduce(team, mine, total, muster::sum, asio::use_awaitable);
    const double s =
        co_await muster::asio::async_allreduce(team, 1.5, muster::sum, asio::use_awaitable);
    asio::steady_timer timer(io, std::chrono::seconds(10));
    co_await (muster::asio::async_barrier(team, asio::use_awaitable) ||
              timer.async_wait(asio::use_awaitable));
    std::printf("%d %d %.1f\n", total[0], total[1], s);
  };
  asio::co_spawn(io, program, asio::detached);
  io.run();
}
