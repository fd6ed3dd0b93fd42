#pragma once

#include <cstddef>
#include <optional>

#include "engine/team/bootstrap.hpp"

namespace muster::mpi {

/// How many processors the processes that `among` connects may use, all of them together.
std::size_t usable_processors(bootstrap& among);

/// Where a progress thread of this process would take no rank's core: a processor of its own, or
/// any (negative). None where there are not enough processors for a thread each. The same answer,
/// but for the number, on all whom `among` connects.
std::optional<int> spare_core(bootstrap& among);

}  // namespace muster::mpi
