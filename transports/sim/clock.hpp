#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/coro/stop.hpp>

namespace muster::sim {

/// Virtual time: whole picoseconds since the beginning, so that sums are exact and runs repeat.
using picoseconds = std::int64_t;

inline picoseconds from_ns(double ns) noexcept {
  return static_cast<picoseconds>(std::llround(ns * 1000));
}
/// The end of virtual time where there is none so late: that is 53 days.
inline picoseconds from(clock_time time) noexcept {
  constexpr picoseconds end = std::numeric_limits<picoseconds>::max() / 2;
  return time.count() > end / 1000 ? end : time.count() * 1000;
}
inline clock_time to_clock(picoseconds time) noexcept { return clock_time(time / 1000); }
inline double to_ns(picoseconds time) noexcept { return static_cast<double>(time) / 1000; }

/// What `bytes` take at `gbs` bytes per nanosecond; nothing at a rate of 0.
inline picoseconds transfer_time(std::size_t bytes, double gbs) noexcept {
  return gbs > 0 ? from_ns(static_cast<double>(bytes) / gbs) : 0;
}

}  // namespace muster::sim
