#pragma once

#include <cstdint>

#include "transports/sim/clock.hpp"

namespace muster::sim {

/// What one rank did.
struct counters {
  std::uint64_t sends = 0;           ///< messages posted to ranks of other nodes
  std::uint64_t sent_bytes = 0;      ///< in them, without headers
  std::uint64_t connections = 0;     ///< ranks of other nodes sent to
  std::uint64_t node_sends = 0;      ///< messages to ranks of its node, through channels
  std::uint64_t node_bytes = 0;      ///< in them
  std::uint64_t shared_written = 0;  ///< bytes copied into the node's shared memory
  std::uint64_t shared_read = 0;     ///< bytes copied or combined out of it
  std::uint64_t announcements = 0;   ///< flags set
  std::uint64_t stage_memory = 0;    ///< bytes of its stages that were used, whole pages
  std::uint64_t channel_memory = 0;  ///< bytes of channels from other ranks
  picoseconds working = 0;           ///< copying, combining, sending, receiving
  picoseconds waiting = 0;           ///< within operations, for others
  picoseconds finished = 0;          ///< when its program ended

  counters& operator+=(const counters& other) noexcept {
    sends += other.sends;
    sent_bytes += other.sent_bytes;
    connections += other.connections;
    node_sends += other.node_sends;
    node_bytes += other.node_bytes;
    shared_written += other.shared_written;
    shared_read += other.shared_read;
    announcements += other.announcements;
    stage_memory += other.stage_memory;
    channel_memory += other.channel_memory;
    working += other.working;
    waiting += other.waiting;
    if (finished < other.finished) finished = other.finished;
    return *this;
  }
};

}  // namespace muster::sim
