#pragma once

#include <mpi.h>

#include "tools/mpi/patient_wait.hpp"

namespace muster::mpi {

/// A communicator like another one, in the making: its ranks may do something else meanwhile.
class communicator_copy {
public:
  /// Collective.
  communicator_copy(MPI_Comm of, way_to_wait how);
  communicator_copy(const communicator_copy&) = delete;
  communicator_copy& operator=(const communicator_copy&) = delete;
  ~communicator_copy();

  /// Waits for it. Whoever takes it frees it.
  MPI_Comm take();

private:
  way_to_wait wait_;
  MPI_Comm made_ = MPI_COMM_NULL;
  MPI_Request making_ = MPI_REQUEST_NULL;
};

}  // namespace muster::mpi
