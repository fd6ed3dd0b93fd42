// What MPICH 4.0 accepts, where the MPIs differ. A test compares this with the MPI itself.
#include "tools/mpi/combinable.hpp"

namespace muster::mpi {

std::vector<combinable> own_combinable_types() {
  using enum datatype;
  using enum elements;
  return {
      {MPI_BYTE, of_muster, uint8, bit_ops},
      {MPI_CHARACTER, of_muster, int8, integer_ops},
      {MPI_INTEGER, of_muster, int32, integer_ops},
      {MPI_INTEGER4, of_muster, int32, integer_ops},
  };
}

}  // namespace muster::mpi
