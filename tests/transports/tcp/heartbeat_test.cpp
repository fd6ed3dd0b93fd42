// Whether others still run: who answers is there, who stops answering is lost, and who never did is
// not judged.

#include "transports/tcp/heartbeat.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <memory>
#include <thread>
#include <vector>

#include "transports/tcp/socket.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto timeout = 400ms;

struct ranks {
  tcp::job_key key = tcp::job_key::random();
  descriptor bell{::eventfd(0, EFD_NONBLOCK)};
  std::vector<tcp::listener> doors;
  std::vector<std::unique_ptr<tcp::heartbeat>> all;

  explicit ranks(std::size_t count) : all(count) {
    const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
    while (doors.size() < count) {
      auto made = tcp::try_listening_at(anywhere, tcp::listening_for::datagrams_too);
      if (made) doors.push_back(std::move(*made));
    }
  }
  void begin(std::size_t rank) { begin(rank, key); }
  void begin(std::size_t rank, const tcp::job_key& with) {
    std::vector<tcp::paths> peers;
    for (std::size_t other = 0; other < doors.size(); ++other) {
      peers.push_back(other == rank ? tcp::paths{} : tcp::paths{{0, doors[other].at}});
    }
    std::vector<descriptor> rails;
    rails.push_back(std::move(doors[rank].datagrams));
    all[rank] = std::make_unique<tcp::heartbeat>(
        tcp::heartbeat::settings{.rank = rank, .key = with, .timeout = timeout, .bell = bell.get()},
        std::move(rails), peers);
  }
  /// Rank 0 asks about another for so long, as a rank that polls does.
  bool loses(std::size_t rank, std::chrono::milliseconds within) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < end) {
      all[0]->await(rank);
      if (all[0]->is_lost(rank)) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

TEST_CASE("who answers is there, and is lost once it does not") {
  ranks of(3);
  for (const std::size_t rank : {0, 1, 2}) of.begin(rank);
  CHECK_FALSE(of.loses(1, 3 * timeout));
  of.all[1].reset();
  CHECK(of.loses(1, 20 * timeout));
  CHECK_FALSE(of.loses(2, 3 * timeout));
}

TEST_CASE("a rank that sleeps is woken") {
  ranks of(2);
  of.begin(0);
  of.begin(1);
  CHECK_FALSE(of.loses(1, timeout));
  of.all[0]->note_sleep();
  of.all[0]->await(1);
  of.all[1].reset();
  pollfd rung{.fd = of.bell.get(), .events = POLLIN, .revents = 0};
  CHECK(::poll(&rung, 1, 10000) == 1);
  CHECK(of.all[0]->is_lost(1));
}

TEST_CASE("who was only greeted has answered") {
  ranks of(2);
  of.begin(0);
  of.begin(1);
  of.all[0]->greet(1);
  std::this_thread::sleep_for(timeout / 2);
  of.all[1].reset();
  CHECK(of.loses(1, 20 * timeout));
}

TEST_CASE("who is not waited for is not asked") {
  ranks of(2);
  of.begin(0);
  of.begin(1);
  CHECK_FALSE(of.loses(1, timeout));
  std::this_thread::sleep_for(timeout);  // what was said expires
  of.all[1].reset();
  std::this_thread::sleep_for(3 * timeout);
  CHECK_FALSE(of.all[0]->is_lost(1));
}

TEST_CASE("ranks of a host that is gone are lost together, though they are waited for one by one") {
  constexpr std::size_t count = 16;
  ranks of(count);
  for (std::size_t rank = 0; rank < count; ++rank) of.begin(rank);
  for (std::size_t rank = 1; rank < count; ++rank) CHECK_FALSE(of.loses(rank, timeout / 4));
  for (std::size_t rank = 1; rank < count; ++rank) of.all[rank].reset();
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t rank = 1; rank < count; ++rank) CHECK(of.loses(rank, 20 * timeout));
  CHECK(std::chrono::steady_clock::now() - begin < (count - 1) * timeout);
}

TEST_CASE("of a host with a silent rank those that answer are not lost") {
  ranks of(3);
  for (const std::size_t rank : {0, 1, 2}) of.begin(rank);
  CHECK_FALSE(of.loses(1, timeout / 4));
  CHECK_FALSE(of.loses(2, timeout / 4));
  of.all[1].reset();
  CHECK(of.loses(1, 20 * timeout));
  CHECK_FALSE(of.loses(2, 3 * timeout));
}

TEST_CASE("who never answered is not judged") {
  ranks of(2);
  of.begin(0);
  CHECK_FALSE(of.loses(1, 4 * timeout));
}

TEST_CASE("who does not know the key has not answered") {
  ranks of(2);
  of.begin(0);
  of.begin(1, tcp::job_key::random());
  CHECK_FALSE(of.loses(1, 3 * timeout));
  of.all[1].reset();
  CHECK_FALSE(of.loses(1, 4 * timeout));
}

}  // namespace
}  // namespace muster::testing
