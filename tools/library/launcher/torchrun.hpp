#pragma once

#include <optional>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// torchrun, and what sets the same: `RANK`, `WORLD_SIZE`, `MASTER_ADDR`, `MASTER_PORT`. At that
/// port torchrun's own store listens; the ranks meet at the next one.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_torchrun();

}  // namespace muster::launcher
