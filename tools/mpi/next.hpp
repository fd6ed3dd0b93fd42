#pragma once

#include <mpi.h>

#include <cstdint>

namespace muster::mpi {

/// The MPI's own function of a name that this library takes: the next one after it.
void* find_symbol_beneath(const char* name) noexcept;
template <class Function>
Function find_next(const char* name) noexcept {
  return reinterpret_cast<Function>(find_symbol_beneath(name));
}

/// A profiler's function of the name, if one is loaded between this library and the MPI: the next
/// one after it, where the MPI's own, which also has its PMPI_ name, comes from elsewhere. Null
/// where there is none.
void* find_wrapper(const char* name) noexcept;
/// What a program's call of `name` is for: such a wrapper, which calls the PMPI_ function in its
/// turn, or `own`, which is that function.
template <class Function>
Function find_outermost(const char* name, Function own) noexcept {
  void* const wrapper = find_wrapper(name);
  return wrapper == nullptr ? own : reinterpret_cast<Function>(wrapper);
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
  bool (*has_work)();  ///< whether a call of them could do anything
};
/// Whether this process's MPI offers a way into its progress.
bool has_progress_hook();
/// There is one. Which of the two is called from now on. After many looks without work it may cease
/// to be, until `resume_hook`.
progress_hook hook_into_progress(const tending& tend, bool many_threads);
/// On any thread, when there has come to be work.
void resume_hook() noexcept;
/// Lets the MPI make progress with what it has under way.
void progress_mpi() noexcept;
/// Whether an MPI that finds nothing gives its core away within the same call.
/// \returns whether it did so far
bool let_mpi_yield(bool may) noexcept;

/// While one exists, ranks that connect to this one are answered whenever the MPI looks for
/// progress. (Open MPI does that every 10 ms until it has a first connection by TCP.)
class prompt_answers {
public:
  prompt_answers() noexcept;
  ~prompt_answers();
  prompt_answers(const prompt_answers&) = delete;
  prompt_answers& operator=(const prompt_answers&) = delete;
};

}  // namespace muster::mpi
