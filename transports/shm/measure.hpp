#pragma once

#include "engine/team/machine.hpp"

namespace muster::shm {

/// Whether ranks will be processes of their own or threads of this one.
enum class ranks_are { processes, threads };

/// Measures this machine with the processors that the calling thread may use, in some 10 ms. With
/// `processes` it forks a child, to see whether one may read another's memory; call it before other
/// threads exist.
muster::machine measure(ranks_are kind);

}  // namespace muster::shm
