#pragma once

#include <cstdint>

namespace muster::verbs {

/// What a rank has asked of its devices, ever.
struct counters {
  std::uint64_t queue_pairs = 0;       ///< that it has now
  std::uint64_t most_queue_pairs = 0;  ///< that it had at once
  std::uint64_t made = 0;              ///< queue pairs
  std::uint64_t recycled = 0;          ///< of them, ended to make room for others
  std::uint64_t lost = 0;              ///< of them, that failed
  std::uint64_t requests = 0;          ///< sends that were posted
  std::uint64_t doorbells = 0;         ///< with which they were
  std::uint64_t bytes = 0;             ///< that they carried
  std::uint64_t repeated = 0;          ///< requests posted again after a queue pair was lost
};

}  // namespace muster::verbs
