#pragma once

/// All collectives, in the forms in which programs call them.

#include <muster/api/cartesian.hpp>
#include <muster/api/movement.hpp>
#include <muster/api/neighbors.hpp>
#include <muster/api/reductions.hpp>
#include <muster/api/varying.hpp>
#include <muster/run/perform.hpp>

namespace muster {

/// Completes when every rank of the team has called it. (Tipparaju, Nieplocha, Panda 2003, 2.2)
task<> barrier(team& on);

}  // namespace muster
