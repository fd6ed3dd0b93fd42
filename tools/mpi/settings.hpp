#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tools/library/progress_choice.hpp"
#include "tools/mpi/routine.hpp"

namespace muster::mpi {

/// Which calls, by routine and form.
using call_set = std::array<std::array<bool, forms>, routines>;

/// How ranks of different machines reach each other.
enum class between_machines : std::uint8_t {
  mpi,    ///< by the MPI's own messages
  tcp,    ///< by Muster's own TCP
  verbs,  ///< by Muster's own RDMA
  leave,  ///< they do not: their calls are left to the MPI
};

/// What a user says in the environment; the same for all ranks.
struct settings {
  /// MUSTER_ENABLE: what is taken, as in "alltoall,ialltoall"; "none" for nothing; by default
  /// everything.
  call_set enabled{};
  progress_choice progress;                      ///< MUSTER_PROGRESS
  between_machines net = between_machines::mpi;  ///< MUSTER_NET
  bool report = false;  ///< MUSTER_REPORT: whether to say at the end what was done
  /// MUSTER_ALLTOALL and its like, all of them in one number: a rank that leaves calls to the MPI
  /// is not heard of by others that do not.
  std::uint64_t choices = 0;

  bool takes(routine which, form how) const noexcept {
    return enabled[static_cast<std::size_t>(which)][static_cast<std::size_t>(how)];
  }
  bool takes_anything() const noexcept;

  /// \throws error `errc::invalid_argument` naming the variable and what was expected
  static settings from_environment();
  /// The report alone, which no text can be wrong for.
  static bool wants_report();
};

/// The parts of `from_environment`, of texts. \throws the same
void enable(settings& in, std::string_view list);
void choose_progress(settings& in, std::string_view text);
void choose_net(settings& in, std::string_view text);

}  // namespace muster::mpi
