// Where the processes that an MPI started run, and beside whom.
#pragma once

#include <sched.h>

#include <cstddef>
#include <span>

namespace muster::mpi {

/// Where a process may run, and beside whom.
struct share_of_cores {
  cpu_set_t processors{};
  std::size_t group = 0;  ///< of the processes that are one to the scheduler
};
/// The calling process's.
share_of_cores find_share_of_cores();

/// Whether a rank that gives its core up hands it to nobody, although others wait for it. So it is
/// where they share cores and the system gives sessions their shares of those, but each rank is a
/// session, as MPICH's launcher makes them. (Where processes are in control groups of their own,
/// sessions have no shares, but this is not looked at.)
/// \param all of the ranks of a machine
bool yielding_is_in_vain(std::span<const share_of_cores> all);

}  // namespace muster::mpi
