#include "tools/mpi/communicator_copy.hpp"

#include <utility>

namespace muster::mpi {

communicator_copy::communicator_copy(MPI_Comm of, way_to_wait how) : wait_(how) {
  PMPI_Comm_idup(of, &made_, &making_);
}

communicator_copy::~communicator_copy() {
  MPI_Comm left = take();
  if (left != MPI_COMM_NULL) PMPI_Comm_free(&left);
}

MPI_Comm communicator_copy::take() {
  wait_(making_);
  return std::exchange(made_, MPI_COMM_NULL);
}

}  // namespace muster::mpi
