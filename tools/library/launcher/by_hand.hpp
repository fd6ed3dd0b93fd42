#pragma once

#include <optional>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// Processes that somebody started one by one: `MUSTER_RENDEZVOUS`, `MUSTER_RANK`, `MUSTER_SIZE`
/// and `MUSTER_KEY_FILE`. Takes the first two out of the environment, since they are this
/// process's.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_hand();

}  // namespace muster::launcher
