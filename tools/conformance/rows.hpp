#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "tools/conformance/simulated.hpp"
#include "tools/conformance/sweep.hpp"

/// One algorithm, in every call that it says it can run, with options where it has them.
namespace muster::testing {

/// One rank's part, with each of the row's choices.
/// \param calls as `calls_for` gives them; neighbors' are drawn at random instead
/// \returns how many there were
task<std::size_t> call_row(const algorithm& row, std::span<const spec> calls, team& of,
                           findings& found, const lateness& pause);

/// What came of a row in a world.
struct row_outcome {
  std::size_t calls = 0;  ///< of a rank
  std::string wrong;      ///< lines of text; empty where all was right
};

/// With a thread for each rank, and with all of them under virtual time.
/// \param rows that the ranks choose from; `row` is one of them
/// \param largest_count of elements, in the calls that are made
row_outcome run_row(const algorithm& row, catalog rows, const world_case& world);
row_outcome simulate_row(const algorithm& row, catalog rows, const world_case& world,
                         const simulated& in,
                         std::size_t largest_count = std::numeric_limits<std::size_t>::max());

}  // namespace muster::testing
