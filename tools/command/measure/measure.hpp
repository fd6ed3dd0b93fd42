#pragma once

#include "transports/sim/model.hpp"

namespace muster::measure {

/// Measures the machine it runs on, in some two seconds, as a model for the simulator: one node
/// with a rank on each processor that the calling thread may use. What travels between made-up
/// nodes of one machine goes through its memory, so the network's figures follow from the others.
/// Forks; call it before other threads exist.
sim::model this_machine();

/// Measures again what changes when virtual processors are moved about: how far apart two cores
/// are. A few milliseconds.
void refresh(sim::model& known);

}  // namespace muster::measure
