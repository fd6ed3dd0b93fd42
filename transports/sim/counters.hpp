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
  std::uint64_t shared_read = 0;     ///< bytes copied or combined out of it, or by the kernel
                                     ///< out of a local peer's memory
  std::uint64_t stage_memory = 0;    ///< bytes of its stages that were used, whole pages
  std::uint64_t channel_memory = 0;  ///< bytes of channels from other ranks
  picoseconds waiting = 0;           ///< within operations, for others
  picoseconds finished = 0;          ///< when its program ended
};

}  // namespace muster::sim
