#pragma once

#include <span>

#include "transports/verbs/address_range.hpp"

namespace muster::verbs {

/// Tells which memory the program has given back to the system: whatever is at those addresses
/// later is other memory. For one thread.
class memory_monitor {
public:
  struct news {
    /// What went back since the last time, and perhaps more; until the next call.
    std::span<const address_range> gone;
    /// False: somebody is just about it, and it is not among these yet. What was known of any
    /// memory may be outdated.
    bool is_all = true;
  };

  virtual ~memory_monitor() = default;

  /// From now on it is told when any of these pages goes back.
  /// \returns false where that cannot be known of them
  virtual bool watch(const address_range& pages) noexcept = 0;
  /// It need not be told of them any more, but may be. They were watched and have not gone since.
  virtual void unwatch(const address_range& pages) noexcept = 0;
  /// All that went back before: in this thread, or in another that this one has heard from since.
  virtual news take() noexcept = 0;
};

}  // namespace muster::verbs
