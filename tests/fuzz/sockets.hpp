#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tests/fuzz/require.hpp"

namespace muster::fuzz {

/// Two ends of a connection inside this process: what is said at one is at the other at once.
inline std::pair<descriptor, descriptor> connected_pair() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0,
          "there are sockets left");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

/// Says it as far as there is room.
inline void say(int socket, std::span<const std::byte> bytes) noexcept {
  static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// All that has come by now.
inline std::vector<std::byte> hear(int socket) {
  std::vector<std::byte> heard;
  std::array<std::byte, 16384> part;
  while (true) {
    const ssize_t got = ::recv(socket, part.data(), part.size(), MSG_DONTWAIT);
    if (got <= 0) return heard;
    heard.insert(heard.end(), part.begin(), part.begin() + got);
  }
}

}  // namespace muster::fuzz
