#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace muster {

/// Binds the calling thread to these processors. False: there is none of such a number, or this
/// process may use none of them; the thread stays where it was.
inline bool bind_to(std::span<const int> processors) noexcept {
  cpu_set_t only;
  CPU_ZERO(&only);
  for (const int processor : processors) {
    if (processor < 0 || processor >= CPU_SETSIZE) return false;
    CPU_SET(static_cast<unsigned>(processor), &only);
  }
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}
/// The same to one.
inline bool bind_to(int processor) noexcept { return bind_to(std::span(&processor, 1)); }

/// Asks the system to let the calling thread run soon after it is woken, for a short time, instead
/// of later for a longer one: it gets no more of the processor. Linux 6.12 and later do so; where
/// it cannot be asked nothing changes.
inline void run_in_short_slices() noexcept {
  // As the system has it; the C library does not declare it.
  struct attributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline, period;
  } how{};
  constexpr std::uint64_t shortest_ns = 100'000;
  if (::syscall(SYS_sched_getattr, 0, &how, sizeof how, 0) != 0) return;
  if (how.policy != SCHED_OTHER) return;
  how.runtime_ns = shortest_ns;
  ::syscall(SYS_sched_setattr, 0, &how, 0);
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
