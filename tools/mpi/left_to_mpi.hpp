// The MPI's own algorithms among Muster's: where they are faster, calls are left to them.
#pragma once

#include <string_view>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/select/catalog.hpp>

#include "tools/mpi/routine.hpp"

namespace muster::mpi {

/// The ids of the rows that leave a call to the MPI: one that blocks, one that does not.
inline constexpr std::string_view left_to_mpi = "mpi";
inline constexpr std::string_view left_with_request = "mpi_nonblocking";

/// Muster's algorithms and, behind them, those two for each collective. Their operation takes its
/// place in the team's order, so that ranks whose calls differ still learn of it, and does nothing:
/// the caller then calls the MPI. They suit calls whose caller is there to do so, and are chosen by
/// a table or by hand alone.
std::vector<algorithm> with_mpi(catalog own);

/// How calls of the form can be left so: not those that are begun again and again, nor where some
/// ranks do not know by what to choose.
leavable leavable_as(collective what, form how) noexcept;

}  // namespace muster::mpi
