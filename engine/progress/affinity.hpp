#pragma once

#include <sched.h>

namespace muster {

/// Binds the calling thread to one processor. False: there is none of this number, or this process
/// may not use it; the thread stays where it was.
inline bool bind_to(int processor) noexcept {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(processor), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

/// Binds the calling thread to one processor until this goes.
class bound_for_now {
public:
  explicit bound_for_now(int processor) noexcept {
    // Only what can be undone.
    bound_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0 && bind_to(processor);
  }
  ~bound_for_now() {
    if (bound_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  bound_for_now(const bound_for_now&) = delete;
  bound_for_now& operator=(const bound_for_now&) = delete;

  /// Whether it could be bound.
  explicit operator bool() const noexcept { return bound_; }

private:
  cpu_set_t before_{};
  bool bound_ = false;
};

}  // namespace muster
