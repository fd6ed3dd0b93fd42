#pragma once

#include <cstddef>
#include <limits>

#include <muster/call/arguments.hpp>

#include "tools/mpi/call.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// Some MPIs refuse to receive what a rank sends itself at the very place where it lies; they have
/// MPI_IN_PLACE for that. Where this one does, Muster does, too.
/// \param means the call in Muster's terms
/// \param rank  the caller's
/// \throws rejected MPI_ERR_BUFFER
void require_no_alias(const call& from, const arguments& means, types& known, std::size_t rank);

/// Of a call whose elements are contiguous: how far behind its send buffer its receive buffer
/// begins where the MPI refuses it, or `never_refused`.
std::ptrdiff_t refused_distance(const arguments& means, std::size_t rank);
inline constexpr std::ptrdiff_t never_refused = std::numeric_limits<std::ptrdiff_t>::min();

}  // namespace muster::mpi
