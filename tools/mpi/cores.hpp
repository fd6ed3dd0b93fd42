// Where the processes that an MPI started run, and beside whom.
#pragma once

#include <muster/team/bootstrap.hpp>

namespace muster::mpi {

/// Whether a rank that gives its core up hands it to nobody, although others wait for it. So it is
/// where they share cores and the system gives sessions their shares of those, but each rank is a
/// session, as MPICH's launcher makes them. (Where processes are in control groups of their own,
/// sessions have no shares, but this is not looked at.) The same answer on all whom `among`
/// connects.
bool yielding_is_in_vain(bootstrap& among);

}  // namespace muster::mpi
