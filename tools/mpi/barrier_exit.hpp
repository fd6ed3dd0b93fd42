#pragma once

#include <sched.h>

#include <cstddef>

#include <muster/run/team.hpp>

#include "tools/mpi/call.hpp"

namespace muster::mpi {

/// Where ranks share cores, whoever arrives at a barrier last leaves it first. If the call behind
/// it brings one rank's data to all, the others then wait in that call for the root to get a core.
/// A rank that did so last time lets the root go first, so that the wait is the barrier's: the same
/// time in all, but none of it the other call's for those who measure one from a barrier on.
class barrier_exit {
public:
  /// Before each blocking call on the communicator.
  void begin(const call& next, std::size_t rank) noexcept {
    if (after_barrier_) {
      root_ = is_from_root(next.what) ? static_cast<std::size_t>(next.root) : no_rank;
      if (root_ == rank) root_ = no_rank;
    }
    after_barrier_ = next.what == routine_of(collective::barrier);
  }

  /// Behind each.
  void end(const team& on) const noexcept {
    // Perhaps it was none of the communicator's.
    if (!after_barrier_ || root_ >= on.size()) return;
    if (!on.engine().waiting().yields_at_once()) return;
    if (!on.has_begun_next(root_)) ::sched_yield();
  }

private:
  static bool is_from_root(routine which) noexcept {
    return which == routine_of(collective::bcast) || which == routine_of(collective::scatter) ||
           which == routine_of(collective::scatterv);
  }

  bool after_barrier_ = false;
  std::size_t root_ = no_rank;  ///< of the call that came behind the last barrier
};

}  // namespace muster::mpi
