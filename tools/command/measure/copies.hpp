#pragma once

#include <cstddef>
#include <span>

#include "transports/sim/model.hpp"

namespace muster::measure {

/// Fills in how fast bytes move and are combined.
/// \param cpus       that may be used
/// \param core_cache bytes of a core's own cache
/// \param node_cache bytes of the last-level cache
void copies(sim::model& result, std::span<const int> cpus, std::size_t core_cache,
            std::size_t node_cache);

/// How fast one core copies what another has in its cache, in bytes per nanosecond.
double other_core_gbs(std::span<const int> cpus, double core_copy_gbs);

}  // namespace muster::measure
