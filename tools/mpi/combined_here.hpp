#pragma once

#include <cstddef>

#include <muster/call/reduction.hpp>

#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// How predefined operations combine elements that are none of Muster's datatypes: with the MPIs'
/// results to the bit, and without a call of the MPI, so wherever operations are driven. Null where
/// only the MPI can.
const custom_reduction* combined_here(elements what, reduction op) noexcept;

/// Bytes from one element to the next, as far as that is known without the MPI; else 0.
std::size_t extent_of(elements what, datatype as) noexcept;

}  // namespace muster::mpi
