#pragma once

#include <cstddef>

namespace muster::testing {

/// What this process has of the system.
struct usage {
  std::size_t own = 0;     ///< KiB in memory that are no file's
  std::size_t shared = 0;  ///< KiB of shared memory
  std::size_t threads = 0;
  std::size_t descriptors = 0;
};

usage usage_now();

/// Whether so much now, where it was `before` earlier, is no growth, for memory in KiB.
constexpr bool is_bounded(std::size_t before, std::size_t now, std::size_t expected = 0) {
  constexpr std::size_t slack = 16 << 10;
  return now <= before + before / 4 + slack + expected;
}

}  // namespace muster::testing
