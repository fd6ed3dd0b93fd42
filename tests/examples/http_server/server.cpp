/// An HTTP server of several processes, which make each answer together.
///
///     muster run -n 4 server PORT     worker r listens at PORT + r; 0: each at any port
///
///     GET /sum?id=N&value=V   the sum of all workers' V, and numbers from each of them
///     GET /idle               the ticks end
///     GET /quit               the worker leaves, as on SIGTERM and SIGINT
///
/// A client sends a request to every worker, with one id and to each a V of its own. One thread of
/// a worker serves HTTP, makes the collectives and ticks each millisecond: that of its io_context.

#include <unistd.h>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <muster/asio.hpp>
#include <muster/muster.hpp>

#include "tests/examples/http_server/ticks.hpp"

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

struct worker {
  asio::io_context io{1};
  muster::asio::world world{io};
  muster::sequencer order{world.team()};
  tcp::acceptor acceptor{io};
  asio::signal_set signals{io, SIGTERM, SIGINT};
  std::list<tcp::socket> clients;
  bool leaves = false;
  std::size_t requests = 0;
  ticks beside;  // something else that the thread has to do
};

/// What has begun is answered. A call that waits for its turn is taken back, as others leave, too.
void leave(worker& here) {
  here.leaves = true;
  here.beside.end();
  here.acceptor.close();
  here.signals.cancel();
  here.order.close();
  for (tcp::socket& each : here.clients) {
    boost::system::error_code ignored;  // the client may have gone
    each.shutdown(tcp::socket::shutdown_receive, ignored);
  }
}

/// Nothing can be answered any more once a worker has died, left or missed a request.
void give_up_if_broken(worker& here) {
  const auto failure = here.world.team().failure();
  if (!failure || here.leaves) return;
  std::fprintf(stderr, "%s\n", failure->what());
  leave(here);
}

/// Requests come to each worker in another order, but all ranks begin a team's calls in one order.
/// So each call has a key, the same on all workers, and is made when it is the key's turn.
template <class Call>
auto in_turn(worker& here, std::uint64_t key, Call call) {
  return muster::asio::async_in_order(here.order, key, std::move(call), asio::use_awaitable);
}

asio::awaitable<std::string> sum(worker& here, std::uint64_t id, std::int64_t value) {
  muster::team& team = here.world.team();
  const auto add = [&] { return muster::allreduce(team, value, muster::sum); };
  const std::int64_t total = co_await in_turn(here, 2 * id, add);

  std::vector<std::int64_t> sent, received(2 * team.size());
  for (std::size_t to = 0; to < team.size(); ++to) {
    sent.push_back(static_cast<std::int64_t>(id));
    sent.push_back(value + static_cast<std::int64_t>(to));
  }
  const auto exchange = [&] { return muster::alltoall(team, sent, received); };
  co_await in_turn(here, 2 * id + 1, exchange);

  std::string text = "{\"sum\":" + std::to_string(total) + ",\"received\":[";
  for (const std::int64_t each : received) text += std::to_string(each) + ",";
  text.back() = ']';
  co_return text + "}";
}

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

asio::awaitable<response> answer(worker& here, const request& asked) {
  response out(http::status::ok, asked.version());
  const std::string target(asked.target());
  unsigned long long id = 0;
  long long value = 0;
  try {
    if (std::sscanf(target.c_str(), "/sum?id=%llu&value=%lld", &id, &value) == 2) {
      out.body() = co_await sum(here, id, value);
      ++here.requests;
    } else if (target == "/idle") {
      here.beside.end();
    } else if (target == "/quit") {
      leave(here);
    } else {
      out.result(http::status::bad_request);
      out.body() = "expected /sum?id=N&value=V, /idle or /quit";
    }
  } catch (const boost::system::system_error& why) {
    out.result(http::status::service_unavailable);
    out.body() = why.what();
    give_up_if_broken(here);
  }
  out.keep_alive(asked.keep_alive() && !here.leaves);
  out.prepare_payload();
  co_return out;
}

asio::awaitable<void> serve(worker& here, tcp::socket& client) {
  boost::beast::flat_buffer buffer;
  while (!here.leaves) {
    request asked;
    co_await http::async_read(client, buffer, asked, asio::use_awaitable);
    const response out = co_await answer(here, asked);
    co_await http::async_write(client, out, asio::use_awaitable);
    if (!out.keep_alive()) break;
  }
}

asio::awaitable<void> accept(worker& here) {
  for (;;) {
    tcp::socket socket = co_await here.acceptor.async_accept(asio::use_awaitable);
    const auto at = here.clients.emplace(here.clients.end(), std::move(socket));
    // Where the client goes, that ends its session alone.
    const auto end = [&here, at](std::exception_ptr) { here.clients.erase(at); };
    asio::co_spawn(here.io, serve(here, *at), end);
  }
}

void listen(worker& here, std::uint16_t port) {
  here.acceptor = tcp::acceptor(here.io, {asio::ip::address_v4::loopback(), port});
  std::printf("worker %zu, process %d, listens at port %d\n", here.world.team().rank(), ::getpid(),
              here.acceptor.local_endpoint().port());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) try {
  if (count != 2) throw std::invalid_argument("usage: muster run -n WORKERS server PORT");
  worker here;
  const std::size_t rank = here.world.team().rank();
  const int first = std::stoi(words[1]);
  listen(here, static_cast<std::uint16_t>(first == 0 ? 0 : first + static_cast<int>(rank)));
  here.signals.async_wait([&](boost::system::error_code why, int) {
    if (!why) leave(here);
  });
  asio::co_spawn(here.io, accept(here), [&](std::exception_ptr) { leave(here); });
  asio::co_spawn(here.io, here.beside.run(), asio::detached);
  here.io.run();
  std::printf("worker %zu: %zu requests; %zu ticks, late by %.0f us (p50), %.0f us (p99)\n", rank,
              here.requests, here.beside.count(), here.beside.late_us(0.5),
              here.beside.late_us(0.99));
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
