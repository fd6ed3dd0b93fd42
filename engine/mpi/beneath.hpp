#pragma once

#include <mpi.h>

namespace muster::mpi {

/// The MPI's own function of a name that this library takes: the next one after it.
void* find_symbol_beneath(const char* name) noexcept;
template <class Function>
Function find_beneath(const char* name) noexcept {
  return reinterpret_cast<Function>(find_symbol_beneath(name));
}

/// Has `tend`, which calls the MPI, called whenever the MPI looks for progress, in whichever of its
/// calls. False where this MPI offers no way, or none where many threads call it at once.
bool hook_into_progress(void (*tend)(), bool many_threads);
/// Lets the MPI make progress with what it has under way.
void progress_beneath() noexcept;

}  // namespace muster::mpi
