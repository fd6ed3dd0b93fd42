// What Open MPI 4.1 accepts. A test compares this with the MPI itself.
#include "tools/mpi/types.hpp"

namespace muster::mpi {
namespace {

using enum reduction;

constexpr op_set real{sum, product, min, max};
constexpr op_set complex{sum, product};
constexpr op_set logical{logical_and, logical_or, logical_xor};
constexpr op_set bits{bit_and, bit_or, bit_xor};
constexpr op_set integer = real | logical | bits;
constexpr op_set fortran_integer = real | bits;
constexpr op_set pair{minloc, maxloc};

}  // namespace

std::vector<combinable> combinable_types() {
  using enum datatype;
  using enum elements;
  return {
      {MPI_CHAR, of_muster, int8, integer},
      {MPI_SIGNED_CHAR, of_muster, int8, integer},
      {MPI_UNSIGNED_CHAR, of_muster, uint8, integer},
      {MPI_BYTE, of_muster, uint8, integer},
      {MPI_SHORT, of_muster, int16, integer},
      {MPI_UNSIGNED_SHORT, of_muster, uint16, integer},
      {MPI_INT, of_muster, int32, integer},
      {MPI_UNSIGNED, of_muster, uint32, integer},
      {MPI_LONG, of_muster, int64, integer},
      {MPI_UNSIGNED_LONG, of_muster, uint64, integer},
      {MPI_LONG_LONG, of_muster, int64, integer},
      {MPI_UNSIGNED_LONG_LONG, of_muster, uint64, integer},
      {MPI_INT8_T, of_muster, int8, integer},
      {MPI_UINT8_T, of_muster, uint8, integer},
      {MPI_INT16_T, of_muster, int16, integer},
      {MPI_UINT16_T, of_muster, uint16, integer},
      {MPI_INT32_T, of_muster, int32, integer},
      {MPI_UINT32_T, of_muster, uint32, integer},
      {MPI_INT64_T, of_muster, int64, integer},
      {MPI_UINT64_T, of_muster, uint64, integer},
      {MPI_AINT, of_muster, int64, integer},
      {MPI_OFFSET, of_muster, int64, integer},
      {MPI_COUNT, of_muster, int64, integer},
      {MPI_C_BOOL, of_muster, boolean, logical},
      {MPI_CXX_BOOL, of_muster, boolean, logical},
      {MPI_FLOAT, of_muster, float32, real},
      {MPI_DOUBLE, of_muster, float64, real},
      {MPI_LONG_DOUBLE, long_doubles, byte, real},
      {MPI_C_FLOAT_COMPLEX, of_muster, complex64, complex},
      {MPI_C_DOUBLE_COMPLEX, of_muster, complex128, complex},
      {MPI_C_LONG_DOUBLE_COMPLEX, long_double_complex, byte, complex},
      {MPI_CXX_FLOAT_COMPLEX, of_muster, complex64, complex},
      {MPI_CXX_DOUBLE_COMPLEX, of_muster, complex128, complex},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, long_double_complex, byte, complex},
      {MPI_SHORT_INT, of_muster, int16_indexed, pair},
      {MPI_2INT, of_muster, int32_indexed, pair},
      {MPI_LONG_INT, of_muster, int64_indexed, pair},
      {MPI_FLOAT_INT, of_muster, float32_indexed, pair},
      {MPI_DOUBLE_INT, of_muster, float64_indexed, pair},
      {MPI_LONG_DOUBLE_INT, long_doubles_indexed, byte, pair},
      {MPI_CHARACTER, of_muster, uint8, integer},
      {MPI_LOGICAL, fortran_logical(MPI_LOGICAL), int32, logical},
      {MPI_INTEGER, of_muster, int32, fortran_integer},
      {MPI_REAL, of_muster, float32, real},
      {MPI_DOUBLE_PRECISION, of_muster, float64, real},
      {MPI_COMPLEX, of_muster, complex64, complex},
      {MPI_DOUBLE_COMPLEX, of_muster, complex128, complex},
      {MPI_2INTEGER, of_muster, int32_indexed, pair},
      {MPI_2REAL, float_pairs, byte, pair},
      {MPI_2DOUBLE_PRECISION, double_pairs, byte, pair},
      {MPI_LOGICAL1, of_muster, int8, integer},
      {MPI_LOGICAL2, of_muster, int16, integer},
      {MPI_LOGICAL4, fortran_logical(MPI_LOGICAL4), int32, logical},
      {MPI_LOGICAL8, of_muster, int64, integer},
      {MPI_INTEGER1, of_muster, int8, integer},
      {MPI_INTEGER2, of_muster, int16, integer},
      {MPI_INTEGER4, of_muster, int32, fortran_integer},
      {MPI_INTEGER8, of_muster, int64, integer},
      {MPI_REAL4, of_muster, float32, real},
      {MPI_REAL8, of_muster, float64, real},
      {MPI_REAL16, of_mpi, byte, real},
      {MPI_COMPLEX8, of_muster, complex64, complex},
      {MPI_COMPLEX16, of_muster, complex128, complex},
      {MPI_COMPLEX32, of_mpi, byte, complex},
  };
}

}  // namespace muster::mpi
