#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster {

/// What was measured of a machine when its job began. One rank measures, all are told, so that
/// decisions based on it are the same everywhere. Trivially copyable.
struct machine {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  double trip_ns = 0;             ///< a cache line from core to core, one way
  double yield_ns = 0;            ///< `sched_yield` with nobody else to run
  double staged_gb_per_s = 0;     ///< copy in, copy out between two cores, through chunks
  double foreign_gb_per_s = 0;    ///< `process_vm_readv`, large blocks
  double foreign_call_ns = 0;     ///< `process_vm_readv`, one small call
  std::uint32_t processors = 1;   ///< this process may run on
  bool foreign_allowed = false;   ///< `process_vm_readv` between ranks is permitted
  bool asymmetric_fence = false;  ///< wakers need no fence (membarrier works)
  /// Blocks of at least this many bytes are copied from the sender's memory by the kernel; shorter
  /// ones go through the stage.
  std::size_t foreign_from = never;
};

}  // namespace muster
