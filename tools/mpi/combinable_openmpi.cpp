// What Open MPI 4.1 accepts, where the MPIs differ. A test compares this with the MPI itself.
#include "tools/mpi/combinable.hpp"

namespace muster::mpi {
namespace {

constexpr op_set fortran_integer_ops = real_ops | bit_ops;

}  // namespace

std::vector<combinable> own_combinable_types() {
  using enum datatype;
  using enum elements;
  return {
      {MPI_BYTE, of_muster, uint8, integer_ops},
      {MPI_CHARACTER, of_muster, uint8, integer_ops},
      {MPI_INTEGER, of_muster, int32, fortran_integer_ops},
      {MPI_LOGICAL1, of_muster, int8, integer_ops},
      {MPI_LOGICAL2, of_muster, int16, integer_ops},
      {MPI_LOGICAL4, fortran_logical(MPI_LOGICAL4), int32, logical_ops},
      {MPI_LOGICAL8, of_muster, int64, integer_ops},
      {MPI_INTEGER4, of_muster, int32, fortran_integer_ops},
      {MPI_COMPLEX32, of_mpi, byte, complex_ops},
  };
}

}  // namespace muster::mpi
