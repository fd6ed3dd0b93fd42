// The least time that a machine allows a collective, whatever the library.
#pragma once

#include <cstddef>
#include <optional>

#include "tools/bench/point.hpp"

namespace muster::bench {

/// What was measured of the machine for one size and number of ranks.
struct allowance {
  std::size_t cores = 1;   ///< that the ranks have
  double trip_ns = 0;      ///< a cache line from core to core, one way
  double switch_ns = 0;    ///< a core, from one of the ranks that share it to the next
  double crossing_ns = 0;  ///< copying a block that another core has just changed
  double near_ns = 0;      ///< copying a block that this core has just copied
};

/// The least time a call, in microseconds, where calls follow each other. It is a bound: no library
/// can be faster while ranks copy what they receive by their own cores; none need be as fast.
double limit_us(const point& at, const allowance& given);

}  // namespace muster::bench
