/// Asks all workers of the server, and verifies each answer.
///
///     client SEED REQUESTS PORT...
///
/// Several requests are in flight at once, each on connections of its own, so that they come to
/// each worker in another order. SEED and a request's id give what is asked, and when.

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t in_flight = 16;

struct load {
  std::uint64_t seed;
  std::uint64_t requests;
  std::vector<std::uint16_t> ports;
  std::uint64_t next = 0;
};

/// What one request is: to each worker a value, sent in this order, with pauses.
struct plan {
  std::uint64_t id;
  std::vector<std::int64_t> values;
  std::vector<std::size_t> order;
  std::vector<std::chrono::microseconds> pauses;
};

plan draw(const load& of, std::uint64_t id) {
  std::mt19937_64 chance(of.seed * 1'000'003 + id);
  const std::size_t workers = of.ports.size();
  plan made{id, {}, std::vector<std::size_t>(workers), {}};
  std::iota(made.order.begin(), made.order.end(), 0);
  std::ranges::shuffle(made.order, chance);
  for (std::size_t i = 0; i < workers; ++i) {
    made.values.push_back(
        std::uniform_int_distribution<std::int64_t>(-1'000'000, 1'000'000)(chance));
    made.pauses.emplace_back(std::uniform_int_distribution<int>(0, 500)(chance));
  }
  return made;
}

std::string expected(const plan& of, std::size_t worker) {
  const std::int64_t sum = std::accumulate(of.values.begin(), of.values.end(), std::int64_t{0});
  std::string text = "{\"sum\":" + std::to_string(sum) + ",\"received\":[";
  for (const std::int64_t value : of.values) {
    text += std::to_string(of.id) + "," +
            std::to_string(value + static_cast<std::int64_t>(worker)) + ",";
  }
  text.back() = ']';
  return text + "}";
}

asio::awaitable<void> send(tcp::socket& to, std::uint64_t id, std::int64_t value) {
  const std::string target = "/sum?id=" + std::to_string(id) + "&value=" + std::to_string(value);
  http::request<http::empty_body> request(http::verb::get, target, 11);
  request.set(http::field::host, "localhost");
  co_await http::async_write(to, request, asio::use_awaitable);
}

asio::awaitable<void> verify(tcp::socket& from, const plan& of, std::size_t worker) {
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> got;
  co_await http::async_read(from, buffer, got, asio::use_awaitable);
  const std::string wanted = expected(of, worker);
  if (got.result() == http::status::ok && got.body() == wanted) co_return;
  throw std::runtime_error("request " + std::to_string(of.id) + ", worker " +
                           std::to_string(worker) + ": expected " + wanted + ", got " +
                           std::to_string(got.result_int()) + " " + got.body());
}

/// One request after another, each on all workers at once.
asio::awaitable<void> ask(load& of) {
  const auto executor = co_await asio::this_coro::executor;
  std::vector<tcp::socket> workers;
  for (const std::uint16_t port : of.ports) {
    const tcp::endpoint where(asio::ip::address_v4::loopback(), port);
    co_await workers.emplace_back(executor).async_connect(where, asio::use_awaitable);
  }
  asio::steady_timer timer(executor);
  while (of.next < of.requests) {
    const plan request = draw(of, of.next++);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      timer.expires_after(request.pauses[i]);
      co_await timer.async_wait(asio::use_awaitable);
      const std::size_t worker = request.order[i];
      co_await send(workers[worker], request.id, request.values[worker]);
    }
    for (std::size_t i = 0; i < workers.size(); ++i) co_await verify(workers[i], request, i);
  }
}

}  // namespace

int main(int count, char** words) try {
  if (count < 4) throw std::invalid_argument("usage: client SEED REQUESTS PORT...");
  load all{std::stoull(words[1]), std::stoull(words[2]), {}};
  for (int i = 3; i < count; ++i)
    all.ports.push_back(static_cast<std::uint16_t>(std::stoi(words[i])));
  std::printf("seed %s\n", words[1]);

  asio::io_context io(1);
  const auto rethrow = [](std::exception_ptr why) {
    if (why) std::rethrow_exception(why);
  };
  for (std::size_t i = 0; i < in_flight; ++i) asio::co_spawn(io, ask(all), rethrow);
  const auto begins = std::chrono::steady_clock::now();
  io.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begins;
  std::printf("%s requests, %zu at once on each of %zu workers, in %.2f s: right\n", words[2],
              in_flight, all.ports.size(), took.count());
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
