#pragma once

#include <mpi.h>

namespace muster::mpi {

/// Waits for a request of the MPI's. Where that takes long it sleeps between looks: an MPI that
/// waits by itself keeps its core, also from those it waits for.
void wait_patiently(MPI_Request& request);
/// The same where others come soon, and get the core when it is given up: only where that takes
/// long it sleeps.
void wait_yielding(MPI_Request& request);

using way_to_wait = void (*)(MPI_Request&);

}  // namespace muster::mpi
