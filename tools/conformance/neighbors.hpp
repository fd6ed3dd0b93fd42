#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/findings.hpp"
#include "tools/conformance/graphs.hpp"
#include "tools/conformance/sweep.hpp"

/// Collectives of neighbors against a plain reference.
namespace muster::testing {

/// Calls of all kinds with a graph each, from a seed.
struct neighbor_calls {
  std::uint64_t seed = 0;
  std::size_t calls = 1;
  std::size_t in_flight = 1;
  std::size_t largest = 0;  ///< bytes of a block
  bool unpunctual = false;
};
/// One rank's part of them.
task<> make_neighbor_calls(team& of, const neighbor_calls& what, findings& found,
                           const lateness& pause);

}  // namespace muster::testing
