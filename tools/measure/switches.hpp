#pragma once

#include <span>

#include "transports/sim/model.hpp"

namespace muster::measure {

/// Fills in what it costs to give up a core, to wake a sleeper, and to call the kernel for it.
void switches(sim::model& result, std::span<const int> cpus);

}  // namespace muster::measure
