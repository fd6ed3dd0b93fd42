#pragma once

#include <mpi.h>

#include <cstdint>

namespace muster::mpi {

/// The MPI's own function of a name that this library takes: the next one after it.
void* find_symbol_beneath(const char* name) noexcept;
template <class Function>
Function find_beneath(const char* name) noexcept {
  return reinterpret_cast<Function>(find_symbol_beneath(name));
}

/// What can be done where an MPI looks for progress, the least first: it is what all ranks can do.
enum class progress_hook : std::uint8_t {
  none,         ///< nothing: it offers no way in
  without_mpi,  ///< all but calls of the MPI, which holds its locks there
  with_mpi,
};

/// What to call whenever the MPI looks for progress, in whichever of its calls.
struct tending {
  void (*with_mpi)();
  void (*without_mpi)();
};
/// Which of the two is called from now on, if any.
progress_hook hook_into_progress(const tending& tend, bool many_threads);
/// Lets the MPI make progress with what it has under way.
void progress_beneath() noexcept;

}  // namespace muster::mpi
