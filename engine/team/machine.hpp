#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster {

/// How fast one core moves large blocks between two ranks' buffers, in bytes per nanosecond (GB/s).
struct copy_speed {
  double staged = 0;   ///< copied in and out of shared memory, both by this core
  double foreign = 0;  ///< copied once, from the sender's memory, by `process_vm_readv`
};

/// What was measured of a machine when its job began. One rank measures, all are told, so that
/// decisions based on it are the same everywhere. Trivially copyable.
struct machine {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  /// A block must also outweigh the two more notices that reading from the sender's memory takes.
  static constexpr std::size_t least_unstaged_bytes = 16 * 1024;

  double trip_ns = 0;               ///< a cache line from core to core, one way
  double yield_ns = 0;              ///< `sched_yield` with nobody else to run
  double foreign_call_ns = 0;       ///< one small `process_vm_readv`
  copy_speed in_cache;              ///< buffers that fit into the last-level cache
  copy_speed beyond_cache;          ///< buffers that do not
  std::uint64_t cache_bytes = 0;    ///< the last-level cache
  std::uint32_t processors = 1;     ///< this process may run on
  std::uint32_t rails = 1;          ///< interfaces of a node that send, and receive, at once
  bool foreign_allowed = false;     ///< `process_vm_readv` between ranks is permitted
  std::size_t foreign_by_hand = 0;  ///< not 0: the answer of `foreign_from`, whatever was measured
  /// Messages between ranks from so many bytes on go straight into the receiver's memory, once it
  /// has said where; shorter ones are copied on their way.
  std::size_t zero_copy_from = never;
  std::size_t message_piece = 32 * 1024;  ///< what is copied on its way goes in pieces so long
  std::size_t shared_scratch_bytes =
      never;                      ///< a rank can provide, of all operations in flight together
  bool asymmetric_fence = false;  ///< wakers need no fence (membarrier works)

  /// The block size from which a sender had better let its readers copy from its memory, at a call
  /// each, than stage the block for them. Staged, a block is copied once in and `readers` times
  /// out; `footprint` is what all ranks of the node move, in bytes.
  std::size_t foreign_from(std::size_t readers, std::size_t footprint) const noexcept {
    const copy_speed& speed = footprint > cache_bytes ? beyond_cache : in_cache;
    if (!foreign_allowed || readers == 0) return never;
    if (foreign_by_hand != 0) return foreign_by_hand;
    const double each = static_cast<double>(readers);
    const double gain_per_byte = (1 + each) / 2 / speed.staged - each / speed.foreign;
    if (gain_per_byte <= 0) return never;
    constexpr double least = least_unstaged_bytes;
    return static_cast<std::size_t>(std::max(least, each * foreign_call_ns / gain_per_byte));
  }
};

}  // namespace muster
