// Where the processes that an MPI started run, and beside whom.
#pragma once

#include <optional>

#include <muster/team/bootstrap.hpp>

namespace muster::mpi {

/// Where a progress thread of this process would take no rank's processor: one of its own, or
/// any (negative). None where there are not enough processors for a thread each. The same answer,
/// but for the number, on all whom `among` connects.
std::optional<int> spare_core(bootstrap& among);

/// Whether a rank that gives its core up hands it to nobody, although others wait for it. So it is
/// where they share cores and the system gives sessions their shares of those, but each rank is a
/// session, as MPICH's launcher makes them. (Where processes are in control groups of their own,
/// sessions have no shares, but this is not looked at.) The same answer on all whom `among`
/// connects.
bool yielding_is_in_vain(bootstrap& among);

}  // namespace muster::mpi
