#pragma once

#include <optional>
#include <string>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// What `muster run` says in `MUSTER_JOB` of a job on several machines; nothing where it says
/// something else, or nothing. Leaves there what it says of the job's part on this machine.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_muster_run();

/// For `MUSTER_JOB`.
/// \param key_at the descriptor of a file of the key's bytes
/// \param here   what `shm::job` says of the job's part on this machine
std::string text_for_launched(const meeting& one, int key_at, const std::string& here);

}  // namespace muster::launcher
