#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// A way to one peer: by which of this rank's rails, and where the peer listens on it.
struct path {
  std::size_t rail = 0;
  address to;
};
/// All ways to it: a subflow each. None: it is not reached by TCP.
using paths = std::vector<path>;

/// A network interface by which other machines may reach this one, as they are told of it.
struct rail {
  std::array<std::uint8_t, 16> host{};  ///< the address; of IPv4 the first 4 bytes
  std::uint16_t port = 0;
  std::uint8_t family = 0;  ///< 4, 6, or 0: there is none
  std::uint8_t bits = 0;    ///< of the address that are its network's
  std::uint32_t speed = 0;  ///< in Mbit/s; 0: not known

  address at() const noexcept;
};

/// What a rank tells others of how to reach it. Trivially copyable.
struct reach {
  static constexpr std::size_t most_rails = 8;
  static constexpr std::size_t most_connections = 16;

  std::array<rail, most_rails> rails{};
  std::uint32_t count = 0;        ///< of rails, at least one
  std::uint32_t connections = 1;  ///< that are to be made on each
  std::uint32_t is_chosen = 0;    ///< whether `MUSTER_INTERFACES` names the rails

  std::span<const rail> all() const noexcept { return std::span(rails).first(count); }
};

/// Whether `one`, which came from another process, can be what a rank says of itself.
bool is_sane(const reach& one) noexcept;

/// This machine's rails: those that `MUSTER_INTERFACES` names, or those found, `usual` first. Never
/// two of one port of the network. `MUSTER_CONNECTIONS` says how many connections each is to have.
/// Without ports: nobody listens there yet.
/// \throws error `errc::invalid_argument`, `errc::bootstrap`
reach find_rails(const address& usual);

/// A rank's rails, on which it listens.
struct open_rails {
  reach told;
  std::vector<listener> doors;  ///< one each, in the same order
};
/// Listens on all rails, at ports of `MUSTER_PORTS`. \throws error as `find_rails`
open_rails listen_on_rails(const address& usual);

/// How two ranks reach each other, for one of them: by the rails on which they share a network; of
/// those that were found, and not chosen, by none that is much slower than another. Both sides
/// number their subflows alike.
/// \param is_first whether this is the lower of the two ranks
paths paths_between(const reach& mine, const reach& theirs, bool is_first);

}  // namespace muster::tcp
