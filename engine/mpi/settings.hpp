#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engine/mpi/routine.hpp"

namespace muster::mpi {

/// Who drives the engine of a process.
enum class progress_by { caller, thread, automatic };

/// What a user says in the environment; the same for all ranks.
struct settings {
  /// MUSTER_ENABLE: what is taken, as in "alltoall,ialltoall"; "none" for nothing; by default
  /// everything.
  std::array<std::array<bool, forms>, routines> enabled{};
  /// MUSTER_PROGRESS: caller, thread, thread:core=3 or auto.
  progress_by progress = progress_by::caller;
  int processor = -1;   ///< for the thread; negative: any
  bool report = false;  ///< MUSTER_REPORT: whether to say at the end what was done
  /// Not a user's: whether the MPI asks for nonblocking operations when it looks for progress.
  bool asked_for_progress = true;

  bool many_threads = false;      ///< not a user's: of some process many may call the MPI at once
  bool all_many_threads = false;  ///< not a user's: of every process

  bool takes(routine which, form how) const noexcept {
    return enabled[static_cast<std::size_t>(which)][static_cast<std::size_t>(how)];
  }
  bool takes_anything() const noexcept;

  /// \throws error `errc::invalid_argument` naming the variable and what was expected
  static settings from_environment();
};

/// The parts of `from_environment`, of texts. \throws the same
void enable(settings& in, std::string_view list);
void choose_progress(settings& in, std::string_view text);

}  // namespace muster::mpi
