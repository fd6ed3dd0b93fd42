#pragma once

#include <span>

#include "transports/sim/model.hpp"

namespace muster::measure {

/// Giving up a core to the next of the processes that wait on it, as ranks do: this one and so many
/// others. Forks; 0 where that does not work.
double switch_ns(int cpu, int others);

/// Fills in what it costs to give up a core, to wake a sleeper, and to call the kernel for it.
void switches(sim::model& result, std::span<const int> cpus);

}  // namespace muster::measure
