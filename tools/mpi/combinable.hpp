#pragma once

#include <mpi.h>

#include <vector>

#include <muster/call/datatype.hpp>
#include <muster/call/reduction.hpp>

#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// What the MPI's predefined operations may combine, and how.
struct combinable {
  MPI_Datatype type;
  elements known_by;
  datatype as;  ///< where Muster knows it
  op_set ops;   ///< that the MPI accepts
};

/// All that the MPI has, the first of those with one handle. What it was built without may be
/// MPI_DATATYPE_NULL.
std::vector<combinable> combinable_types();

/// Those in which the MPIs differ; defined for each.
std::vector<combinable> own_combinable_types();

/// What the MPIs accept on most types of a kind.
inline constexpr op_set real_ops{reduction::sum, reduction::product, reduction::min,
                                 reduction::max};
inline constexpr op_set complex_ops{reduction::sum, reduction::product};
inline constexpr op_set logical_ops{reduction::logical_and, reduction::logical_or,
                                    reduction::logical_xor};
inline constexpr op_set bit_ops{reduction::bit_and, reduction::bit_or, reduction::bit_xor};
inline constexpr op_set integer_ops = real_ops | logical_ops | bit_ops;
inline constexpr op_set pair_ops{reduction::minloc, reduction::maxloc};

}  // namespace muster::mpi
