#pragma once

#include <optional>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// What whoever started this process says of the other ranks of its job: the variables of Muster's
/// own, torchrun, a launcher that speaks PMIx or PMI, torchrun's variables alone, Slurm, in this
/// order. Nothing where nobody
/// says anything, or the first that does says that it is alone. A launcher for which `muster run`
/// stands is not asked here.
/// \throws error `errc::bootstrap`, where something is missing or wrong
std::optional<meeting> find_meeting();

}  // namespace muster::launcher
