// What `muster bench` and `muster tune` ask of the library that is loaded into an MPI's ranks. They
// are of one build, and find it by its name.
#pragma once

#include <muster/base/fixed_text.hpp>
#include <muster/call/arguments.hpp>

namespace muster::mpi {

inline constexpr const char* choose_name = "muster_choose";

/// Called on all ranks alike, while no collective is under way. Calls of `like.what` on
/// MPI_COMM_WORLD use an algorithm from now on.
/// \param like      a call that is to come, with its layouts; it needs no buffers, and may be left
///                  in the form that it has
/// \param algorithm as in `team::choose`; empty: as Muster selects; null: whatever was chosen last
/// \param said      the id of the algorithm that such a call runs; or why it cannot be
/// \returns whether it can be
using choose_function = bool (*)(const arguments& like, const char* algorithm,
                                 fixed_text<200>& said);

}  // namespace muster::mpi
