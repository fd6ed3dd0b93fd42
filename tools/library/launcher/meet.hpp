#pragma once

#include <optional>

#include "tools/library/launcher/meeting.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/verbs/fabric.hpp"

namespace muster::launcher {

/// Goes to a meeting, and serves there until all have met where that falls to this process.
/// Collective.
/// \param by how ranks of different machines are to reach each other; nothing: as `MUSTER_FABRIC`
///           says
/// \throws error `errc::bootstrap`
cluster::bootstrapped meet(meeting at, std::optional<verbs::fabric> by = {});

}  // namespace muster::launcher
