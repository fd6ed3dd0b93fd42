// What Open MPI 4.1 and MPICH 4.0 accept alike. A test compares this with the MPI itself.
#include "tools/mpi/combinable.hpp"

namespace muster::mpi {

std::vector<combinable> combinable_types() {
  using enum datatype;
  using enum elements;
  std::vector<combinable> all = {
      {MPI_CHAR, of_muster, int8, integer_ops},
      {MPI_SIGNED_CHAR, of_muster, int8, integer_ops},
      {MPI_UNSIGNED_CHAR, of_muster, uint8, integer_ops},
      {MPI_SHORT, of_muster, int16, integer_ops},
      {MPI_UNSIGNED_SHORT, of_muster, uint16, integer_ops},
      {MPI_INT, of_muster, int32, integer_ops},
      {MPI_UNSIGNED, of_muster, uint32, integer_ops},
      {MPI_LONG, of_muster, int64, integer_ops},
      {MPI_UNSIGNED_LONG, of_muster, uint64, integer_ops},
      {MPI_LONG_LONG, of_muster, int64, integer_ops},
      {MPI_UNSIGNED_LONG_LONG, of_muster, uint64, integer_ops},
      {MPI_INT8_T, of_muster, int8, integer_ops},
      {MPI_UINT8_T, of_muster, uint8, integer_ops},
      {MPI_INT16_T, of_muster, int16, integer_ops},
      {MPI_UINT16_T, of_muster, uint16, integer_ops},
      {MPI_INT32_T, of_muster, int32, integer_ops},
      {MPI_UINT32_T, of_muster, uint32, integer_ops},
      {MPI_INT64_T, of_muster, int64, integer_ops},
      {MPI_UINT64_T, of_muster, uint64, integer_ops},
      {MPI_AINT, of_muster, int64, integer_ops},
      {MPI_OFFSET, of_muster, int64, integer_ops},
      {MPI_COUNT, of_muster, int64, integer_ops},
      {MPI_C_BOOL, of_muster, boolean, logical_ops},
      {MPI_CXX_BOOL, of_muster, boolean, logical_ops},
      {MPI_FLOAT, of_muster, float32, real_ops},
      {MPI_DOUBLE, of_muster, float64, real_ops},
      {MPI_LONG_DOUBLE, long_doubles, byte, real_ops},
      {MPI_C_FLOAT_COMPLEX, of_muster, complex64, complex_ops},
      {MPI_C_DOUBLE_COMPLEX, of_muster, complex128, complex_ops},
      {MPI_C_LONG_DOUBLE_COMPLEX, long_double_complex, byte, complex_ops},
      {MPI_CXX_FLOAT_COMPLEX, of_muster, complex64, complex_ops},
      {MPI_CXX_DOUBLE_COMPLEX, of_muster, complex128, complex_ops},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, long_double_complex, byte, complex_ops},
      {MPI_SHORT_INT, of_muster, int16_indexed, pair_ops},
      {MPI_2INT, of_muster, int32_indexed, pair_ops},
      {MPI_LONG_INT, of_muster, int64_indexed, pair_ops},
      {MPI_FLOAT_INT, of_muster, float32_indexed, pair_ops},
      {MPI_DOUBLE_INT, of_muster, float64_indexed, pair_ops},
      {MPI_LONG_DOUBLE_INT, long_doubles_indexed, byte, pair_ops},
      {MPI_LOGICAL, fortran_logical(MPI_LOGICAL), int32, logical_ops},
      {MPI_REAL, of_muster, float32, real_ops},
      {MPI_DOUBLE_PRECISION, of_muster, float64, real_ops},
      {MPI_COMPLEX, of_muster, complex64, complex_ops},
      {MPI_DOUBLE_COMPLEX, of_muster, complex128, complex_ops},
      {MPI_2INTEGER, of_muster, int32_indexed, pair_ops},
      {MPI_2REAL, float_pairs, byte, pair_ops},
      {MPI_2DOUBLE_PRECISION, double_pairs, byte, pair_ops},
      {MPI_INTEGER1, of_muster, int8, integer_ops},
      {MPI_INTEGER2, of_muster, int16, integer_ops},
      {MPI_INTEGER8, of_muster, int64, integer_ops},
      {MPI_REAL4, of_muster, float32, real_ops},
      {MPI_REAL8, of_muster, float64, real_ops},
      {MPI_REAL16, of_mpi, byte, real_ops},
      {MPI_COMPLEX8, of_muster, complex64, complex_ops},
      {MPI_COMPLEX16, of_muster, complex128, complex_ops},
  };
  const std::vector<combinable> own = own_combinable_types();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace muster::mpi
