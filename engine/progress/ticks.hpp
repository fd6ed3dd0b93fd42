#pragma once

#include <chrono>
#include <cstdint>

namespace muster {

/// The time in a unit of its own, as cheaply as the processor tells it: x86 counts ticks at a
/// constant rate, the same on all cores. For durations, and for times of day by comparing it with a
/// clock now and then.
inline std::uint64_t count_ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace muster
