#pragma once

#include <optional>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// A launcher that speaks PMIx: Open MPI's mpirun, PRRTE, `srun --mpi=pmix`. Nothing where none
/// does, or this process stands alone.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_pmix();

}  // namespace muster::launcher
