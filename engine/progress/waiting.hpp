#pragma once

#include <sched.h>

#include <muster/coro/stop.hpp>

namespace muster {

/// Tells the core that this is a waiting loop, so that its sibling hyper-thread gets the resources.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What an engine does when it has looked for something to do for long enough.
enum class idling {
  sleeps,    ///< until somebody rings
  looks_on,  ///< for as long as it has to: nobody need ring
  naps,      ///< for a quarter of the time that it has waited: nobody need ring, either
};

/// How long an engine that finds nothing goes on looking before it sleeps.
///
/// Spinning pays only where the peer runs at the same time on another core; where ranks outnumber
/// cores every poll keeps a peer from running, so a rank gives up its core after the first look.
/// Sleeping pays once the wait exceeds what a wake-up costs.
struct waiting_policy {
  unsigned looks_before_suspending = 0;  ///< by a wait itself, before it leaves it to the engine
  unsigned looks_at_other_cores = 0;     ///< the same, where all that is awaited runs elsewhere
  unsigned spins = 0;                    ///< looks by the engine before the first yield, at most
  /// How long they may take, where a look is a system call.
  clock_time spin_for = clock_time::max();
  clock_time yield_for = clock_time(0);  ///< how long to go on looking, yielding in between
  idling when_idle = idling::sleeps;     ///< and afterwards

  /// Whether a look in vain may keep from its core whom it waits for.
  bool yields_at_once() const noexcept { return spins == 0; }

  static constexpr waiting_policy core_of_its_own() {
    return {.looks_before_suspending = 64,
            .spins = 200,
            .spin_for = std::chrono::microseconds(20),
            .yield_for = std::chrono::microseconds(100)};
  }
  static constexpr waiting_policy cores_shared() {
    return {.looks_at_other_cores = 64, .yield_for = std::chrono::microseconds(500)};
  }
  /// Never looks twice: where a look keeps a program from computing, and a wake-up may take its
  /// core away, which a look after a yield may not.
  static constexpr waiting_policy asleep() { return {}; }
};

}  // namespace muster
