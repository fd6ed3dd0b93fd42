// Sends of which the system reads the bytes where they are: they count as done when it says so, and
// no more are made where it copies after all.

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/zero_copy_sends.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t least_bytes = std::size_t{64} << 10;

/// Both ends of a connection on this machine.
struct connected {
  tcp::listener door =
      tcp::listen_at(tcp::address::of_bytes(std::to_array<std::uint8_t>({127, 0, 0, 1}), 0));
  descriptor from = tcp::begin_connecting(door.at, {});
  descriptor to;

  connected() {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!to && std::chrono::steady_clock::now() < end) to = tcp::accept_from(door);
    REQUIRE(to);
    while (!tcp::how_connected(from.get())) std::this_thread::sleep_for(1ms);
  }
};

std::size_t take_all(int socket, std::vector<std::byte>& place) {
  std::size_t taken = 0;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (taken < place.size() && std::chrono::steady_clock::now() < end) {
    const ssize_t got = ::recv(socket, place.data() + taken, place.size() - taken, 0);
    if (got > 0) taken += static_cast<std::size_t>(got);
  }
  return taken;
}

TEST_CASE("a send is done when the system has reported it, and none follows a copied one") {
  connected both;
  tcp::zero_copy_sends sends;
  sends.begin(both.from.get(), least_bytes);
  REQUIRE(sends.pays(least_bytes));
  CHECK_FALSE(sends.pays(least_bytes - 1));

  const std::vector<std::byte> bytes(least_bytes, std::byte{7});
  const std::optional<tcp::moved> sent = sends.send(both.from.get(), bytes);
  REQUIRE(sent);
  REQUIRE(sent->bytes != 0);
  CHECK(sends.count() == 1);
  CHECK(sends.are_done(0));

  std::vector<std::byte> place(sent->bytes);
  CHECK(take_all(both.to.get(), place) == place.size());
  CHECK(place == std::vector<std::byte>(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(sent->bytes)));
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!sends.are_done(1) && std::chrono::steady_clock::now() < end) {
    sends.read_reports(both.from.get());
  }
  CHECK(sends.are_done(1));
  // On its way to this machine itself the system copies, and says so.
  CHECK_FALSE(sends.pays(least_bytes));
}

TEST_CASE("a socket that cannot do it is not asked to") {
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0);
  const descriptor one(both[0]);
  const descriptor other(both[1]);
  tcp::zero_copy_sends sends;
  sends.begin(one.get(), least_bytes);
  CHECK_FALSE(sends.pays(least_bytes));
}

}  // namespace
}  // namespace muster::testing
