#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/address.hpp"

namespace muster::tcp {

/// A listening socket, which does not block.
struct listener {
  descriptor socket;
  address at;  ///< with the port that the system gave
  /// For datagrams at the same address and port, where it was asked for.
  descriptor datagrams = {};
};
/// \param at port 0: any that is free. \throws error `errc::bootstrap`
listener listen_at(const address& at);
enum class listening_for { connections, datagrams_too };
/// Nothing where the port is taken.
std::optional<listener> try_listening_at(const address& at,
                                         listening_for what = listening_for::connections);

/// The next that has connected; empty where there is none, or, as `errno` says, no descriptor for
/// it.
descriptor accept_from(const listener& at) noexcept;
/// Begins to connect; empty where that cannot be. The socket is writable once it has connected, or
/// has failed to.
/// \param from by which of this machine's addresses; without a length: any
/// \param patience after so long without an answer it has failed; 0: when the system says so
descriptor begin_connecting(const address& to, const address& from = {},
                            std::chrono::milliseconds patience = {}) noexcept;
/// It has connected: from now on its other side may be silent.
void end_connecting(int socket) noexcept;

/// Has the system notice, after some time like `idle`, that the other side's machine is gone,
/// though nothing is sent. 0: never.
void keep_alive(int socket, std::chrono::milliseconds idle) noexcept;
/// It has room no more while so many bytes wait in it that were never sent.
void limit_unsent(int socket, std::size_t bytes) noexcept;
/// Whether a connection failed with this error number since there is no way to the other side now.
bool is_unreachable(int why) noexcept;
/// Of a socket that `begin_connecting` gave: nothing while it is on its way; then 0, or the
/// system's error number.
std::optional<int> how_connected(int socket) noexcept;
/// Whether all that a socket was given has come to the other side's system.
bool has_delivered(int socket) noexcept;
/// What becomes of what a socket was given.
enum class delivery {
  complete,
  under_way,
  stalled,  ///< it was sent again and again, and nothing comes back
};
delivery delivery_of(int socket) noexcept;
/// The address of this side of a connected socket, with port 0; of IPv4 as such.
address local_address_of(int socket) noexcept;

/// How an attempt to move bytes ended.
struct moved {
  enum class how { some, nothing_yet, over };
  how ended;
  std::size_t bytes = 0;
};
/// Whether what is sent had better wait for what comes next, to go with it.
enum class more_to_send : bool { no, yes };
moved send_some(int socket, std::span<const iovec> from,
                more_to_send more = more_to_send::no) noexcept;
/// The system tells of what has come where that is so many bytes, or the last.
void tell_from(int socket, std::size_t bytes) noexcept;
moved receive_some(int socket, std::span<const iovec> to) noexcept;

}  // namespace muster::tcp
