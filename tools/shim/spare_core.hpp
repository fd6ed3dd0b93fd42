#pragma once

#include <optional>

#include "engine/team/bootstrap.hpp"

namespace muster::mpi {

/// Where a progress thread of this process would take no rank's processor: one of its own, or
/// any (negative). None where there are not enough processors for a thread each. The same answer,
/// but for the number, on all whom `among` connects.
std::optional<int> spare_core(bootstrap& among);

}  // namespace muster::mpi
