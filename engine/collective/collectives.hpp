#pragma once

/// All collectives, in the forms in which programs call them.

#include "engine/collective/cartesian.hpp"
#include "engine/collective/forms/movement.hpp"
#include "engine/collective/forms/neighbors.hpp"
#include "engine/collective/forms/reductions.hpp"
#include "engine/collective/forms/varying.hpp"
#include "engine/collective/perform.hpp"

namespace muster {

/// Completes when every rank of the team has called it. (Tipparaju, Nieplocha, Panda 2003, 2.2)
task<> barrier(team& on);

}  // namespace muster
