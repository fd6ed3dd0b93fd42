#pragma once

#include <cstddef>

#include "tools/command/bench/measured.hpp"

namespace muster::bench {

/// What is measured on every library.
struct point {
  collective what = collective::barrier;
  std::size_t ranks = 1;
  std::size_t bytes = 0;  ///< whole message, or one block of those that have blocks
  bool operator==(const point&) const = default;
};

}  // namespace muster::bench
