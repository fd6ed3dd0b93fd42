// What comes of a socket comes in order and whole, however it gets here: asked for, brought, and
// while one gives way to the other.

#include "transports/tcp/buffered_socket.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using tcp::reactor;
using by_epoll = std::integral_constant<reactor::kind, reactor::kind::epoll>;
using by_uring = std::integral_constant<reactor::kind, reactor::kind::io_uring>;

/// A socket as a connection has it, and its other side, which is a bare one.
struct line final : reactor::handler {
  std::unique_ptr<reactor> by;
  tcp::buffered_socket near;
  descriptor far;

  line(reactor::kind which, std::size_t bytes) : near(bytes) {
    by = tcp::make_reactor(which);
    std::array<int, 2> both{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) == 0);
    tcp::registration watch(*by, both[0], 0, reactor::interest::messages);
    near.open(descriptor(both[0]), std::move(watch));
    far = descriptor(both[1]);
  }
  ~line() { near.close(); }

  void note(std::uint64_t, bool readable, bool writable, bool ends) noexcept override {
    near.note(readable, writable, ends);
  }
  void bring(std::uint64_t, std::span<const std::byte> bytes) noexcept override {
    near.bring(bytes);
  }
  void stop_bringing(std::uint64_t, bool ends) noexcept override { near.stop_bringing(ends); }
};

std::byte byte_at(std::size_t at) { return static_cast<std::byte>(at * 7 + at / 251); }

/// The other side says bytes of that sequence.
class speaker {
public:
  explicit speaker(int socket) : socket_(socket) {}
  void say(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = byte_at(said_ + i);
    const ssize_t sent = ::send(socket_, bytes.data(), count, MSG_NOSIGNAL);
    if (sent > 0) said_ += static_cast<std::size_t>(sent);
  }
  std::size_t said() const noexcept { return said_; }

private:
  int socket_;
  std::size_t said_ = 0;
};

TEST_CASE_TEMPLATE("in order and whole", By, by_epoll, by_uring) {
  INFO(how_to_replay());
  std::mt19937_64 random(run_seed());
  line one(By::value, 4096);
  speaker far(one.far.get());
  constexpr std::size_t all = 30'000'000;
  std::vector<std::byte> place(70'000);
  std::size_t taken = 0;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (taken < all && std::chrono::steady_clock::now() < end) {
    const bool is_long = random() % 64 == 0;
    if (far.said() < all) far.say(is_long ? 60'000 : 1 + random() % 3000);
    if (random() % 100 == 0) one.near.expect_long();
    if (random() % 3 != 0) one.by->look(one);
    // Short ones pass through the ring, long ones go straight to their place.
    const std::size_t most = random() % 16 == 0 ? place.size() : 1 + random() % 2000;
    if (random() % 2 == 0 && one.near.is_readable() && one.near.in().room() != 0) one.near.read({});
    const std::size_t got = one.near.take(std::span(place).first(most));
    std::size_t right = 0;
    while (right < got && place[right] == byte_at(taken + right)) ++right;
    REQUIRE(right == got);
    taken += got;
  }
  CHECK(taken >= all);
}

TEST_CASE_TEMPLATE("the end comes after all that was said", By, by_epoll, by_uring) {
  for (int shorts = 0; shorts < 100; shorts += 9) {
    line one(By::value, 1024);
    speaker far(one.far.get());
    std::vector<std::byte> place(512);
    std::size_t taken = 0;
    const auto take = [&] {
      one.by->look(one);
      taken += one.near.take(place);
    };
    for (int i = 0; i < shorts; ++i) {
      far.say(10);
      while (taken < far.said()) take();
    }
    far.say(20'000);
    one.far = descriptor();
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!one.near.has_ended() && std::chrono::steady_clock::now() < end) take();
    CHECK(one.near.has_ended());
    while (one.near.in().size() != 0) take();
    CHECK(taken == far.said());
  }
}

}  // namespace
}  // namespace muster::testing
