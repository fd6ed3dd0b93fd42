#pragma once

#include "tools/command/bench/measurement.hpp"

namespace muster::bench {

/// One good sample.
inline measurement measured(library of, const point& at, double us) {
  measurement one;
  one.at = at;
  one.of = of;
  one.median_us = us;
  one.samples = 1;
  one.verified = true;
  return one;
}

}  // namespace muster::bench
