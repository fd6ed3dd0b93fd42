#pragma once

#include <memory>
#include <optional>

#include "tools/library/launcher/private_channel.hpp"

namespace muster::launcher {

enum class pmi_version { one, two };

/// A process manager's PMI, where this process has one; null where it has none.
/// MPICH's Hydra and Slurm's `srun --mpi=pmi2` speak both versions.
/// \throws error `errc::bootstrap` where it does not speak this one
std::unique_ptr<private_channel> open_pmi(pmi_version which);

/// By PMI-1, which all of them speak, or else PMI-2. A program that uses MPI, too, calls `MPI_Init`
/// first: a process manager does not begin with a process twice.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_pmi();

}  // namespace muster::launcher
