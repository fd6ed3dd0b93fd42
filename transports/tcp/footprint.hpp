#pragma once

#include <cstddef>

namespace muster::tcp {

/// What a rank takes for others, of its own memory and of the system's descriptors. It makes a
/// connection to another rank, with its buffers, when one of the two first has something to say.

/// Buffers of a connection: what waits to be sent and what has come, two windows each.
std::size_t connection_bytes(std::size_t window, std::size_t subflows) noexcept;

/// The widest window with which the buffers of connections to `peers` ranks take no more than
/// `bytes`. Where the peers are very many, it is the least that messages need.
std::size_t window_within(std::size_t bytes, std::size_t peers, std::size_t subflows) noexcept;
/// That least.
inline constexpr std::size_t least_window = 4096;

/// Descriptors of a rank that talks to nobody: those that it listens and asks by on each rail, and
/// its reactor, its timer and its heartbeat's bell.
constexpr std::size_t idle_descriptors(std::size_t rails) noexcept { return 2 * rails + 3; }

}  // namespace muster::tcp
