// The MPI's own algorithms among Muster's: where they are faster, calls are left to them.
#pragma once

#include <string_view>
#include <vector>

#include <muster/select/catalog.hpp>

#include "tools/mpi/routine.hpp"

namespace muster::mpi {

/// The id of the rows that leave a call to the MPI.
inline constexpr std::string_view left_to_mpi = "mpi";

/// Muster's algorithms and, behind them, `left_to_mpi` for each collective. Its operation takes its
/// place in the team's order, so that ranks whose calls differ still learn of it, and does nothing:
/// the caller then calls the MPI. It suits blocking calls, whose caller is there to do so, and is
/// chosen by a table or by hand alone.
std::vector<algorithm> with_mpi(catalog own);

/// Whether calls of the form can be left so: those that block, and for which all ranks know alike
/// by what to choose.
bool can_be_left(collective what, form how) noexcept;

}  // namespace muster::mpi
