#pragma once

#include <mpi.h>

namespace muster::mpi {

/// Waits for a request of the MPI's. Where that takes long it sleeps between looks: an MPI that
/// waits by itself keeps its core, also from those it waits for.
void wait_patiently(MPI_Request& request);

}  // namespace muster::mpi
