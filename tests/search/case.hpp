#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/conformance/simulated.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {

/// What goes wrong on purpose.
enum class trouble {
  none,
  death,     ///< a rank dies at some time
  mismatch,  ///< a rank makes another call than the rest
  deadline,  ///< operations have deadlines that some of them miss
  leaving,   ///< a rank ends before the last calls
};

/// A simulation with all its chances, wholly determined by a seed.
struct random_case {
  std::uint64_t seed = 0;
  simulated in;
  std::size_t ranks = 1;
  std::vector<spec> calls;
  conduct how;
  clock_time latest{0};  ///< by how much ranks come late
  trouble what = trouble::none;
  std::size_t culprit = 0;   ///< the rank that dies, differs or leaves
  std::size_t odd_call = 0;  ///< which of the calls differs, or is the first one left out
  spec odd;
};

random_case make_case(std::uint64_t seed);
std::string describe(const random_case& of);

/// What went wrong that should not have, or nothing.
std::string run_case(const random_case& of);

/// What happened, whatever it was: the run's trace and its end.
std::string history_of(const random_case& of);

}  // namespace muster::testing
