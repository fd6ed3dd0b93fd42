// About the least time that a machine allows a collective, whatever the library.
#pragma once

#include <cstddef>
#include <optional>

#include "tools/command/bench/point.hpp"

namespace muster::bench {

/// What was measured of the machine for one size and number of ranks.
struct allowance {
  std::size_t cores = 1;   ///< that the ranks have
  double trip_ns = 0;      ///< a cache line from core to core, one way
  double switch_ns = 0;    ///< a core, from one of the ranks that share it to the next
  double crossing_ns = 0;  ///< copying a block that another core has just changed
  double near_ns = 0;      ///< copying a block that this core has just copied
  double memory_ns = 0;    ///< copying a byte in no cache, of all that the cores copy together
  bool between_barriers = false;  ///< the mean over ranks counts, each from when it begins
};

/// Whether a call that combines nothing has more in its buffers than a cache holds, so that what
/// limits it is the memory.
bool leaves_caches(const point& at);

/// About the least time a call, in microseconds, where calls follow each other and ranks copy what
/// they receive by their own cores; or as the memory allows where a call leaves the caches. 0 where
/// nothing limits it. None need be as fast. An estimate, not a proof: a library may
/// overlap what is added up here (a rank's own block with the others' trips), pack several small
/// blocks into a line, or hand on a core by other means than Muster's turns.
double limit_us(const point& at, const allowance& given);

}  // namespace muster::bench
