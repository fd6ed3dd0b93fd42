// Each collective, called by its number.
#pragma once

#include <cstddef>
#include <vector>

#include <muster/muster.hpp>

namespace muster::testing {

/// The buffers of every collective.
struct buffers {
  buffers(std::size_t ranks, std::size_t count);

  std::vector<double> one;
  std::vector<double> other;
  std::vector<double> blocks;
  std::vector<double> more_blocks;
  std::vector<std::size_t> counts;  ///< of the varying blocks, which need not vary here
  std::vector<std::size_t> everybody;
};

/// The roots of the collectives that have one.
struct roots {
  std::size_t bcast = 0;
  std::size_t scatter = 0;  ///< and of scatterv
  std::size_t gather = 0;   ///< and of gatherv and reduce
};

/// Calls `what` with buffers that are made for so many ranks. A neighborhood is all ranks, this one
/// among them, which is the most that a rank can have to do.
task<> call(team& of, collective what, buffers& in, roots at);

}  // namespace muster::testing
