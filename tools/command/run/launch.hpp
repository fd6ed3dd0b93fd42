#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster::launch {

/// What `muster run` starts.
struct options {
  std::size_t ranks = 1;
  std::size_t nodes = 1;               ///< made-up nodes that the ranks are spread over
  bool bind_to_core = true;            ///< rank r to core r, round robin
  bool tag_output = false;             ///< prefix each line of output with its rank
  std::size_t kernel_copies_from = 0;  ///< bytes of a block; 0: as measured
  std::string record_arrivals;         ///< the folder for the ranks' records; empty: none
  std::vector<std::string> command;    ///< program and arguments
};

/// Starts the ranks, waits for all, and returns the exit status for the launcher: 0, or that of the
/// rank that failed first (128 + signal where one was killed).
///
/// When a rank fails, the others learn of it at once, have `grace` to end by themselves, and are
/// then ended. Signals sent to the launcher go on to the ranks. Nothing outlives it.
/// \throws error where the job cannot be made.
int run(const options& what);

}  // namespace muster::launch
