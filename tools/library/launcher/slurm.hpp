#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// `srun` without a process manager's interface: `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`,
/// `SLURM_STEP_NODELIST`, `SLURM_JOB_ID`, `SLURM_STEP_ID`, and `MUSTER_KEY_FILE`. The ranks meet on
/// the step's first node, at a port that follows from the step. A batch script's own process, which
/// is no task of a step, is alone.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_slurm();

/// The first of Slurm's list of nodes, as in "n[003-017,20]-ib,login".
std::string first_node_of(std::string_view list);

/// Where the ranks of a step meet: the same for all of them, different for steps side by side.
std::uint16_t port_of_step(std::size_t job, std::size_t step) noexcept;

}  // namespace muster::launcher
