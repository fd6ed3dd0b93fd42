#pragma once

#include <span>

#include <muster/team/shape.hpp>

namespace muster::shm {

/// What so many processors of this machine have in common, each thing named by its lowest
/// processor; `unknown` what they have not. From a handful of files, whatever the number of
/// processors: for those who must not wait for hwloc.
place common_place(std::span<const int> processors);

}  // namespace muster::shm
