// How a rank comes late to its calls, as the order says.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tools/command/bench/wire.hpp"
#include "tools/command/shared/arrivals.hpp"

namespace muster::bench {

class latecomer {
public:
  /// Throws std::invalid_argument where the pattern is wrong or for other numbers of ranks.
  latecomer(const lateness& plan, std::size_t rank, std::size_t ranks)
      : what_(arrivals::parse(plan.pattern.view())),
        around_{plan.seed, ranks, std::chrono::nanoseconds(plan.message_time_ns)},
        rank_(rank),
        first_call_(plan.first_call),
        yields_(plan.yields) {
    arrivals::require_ranks(what_, ranks);
  }

  /// Before the order's call number `call`.
  std::chrono::nanoseconds delay(std::uint64_t call) const {
    return arrivals::delay(what_, around_, rank_, first_call_ + call);
  }

  /// Computes, as it were, until the delay is over.
  void spend(std::chrono::nanoseconds delay) const {
    using clock = std::chrono::steady_clock;
    if (delay.count() == 0) return;
    for (const auto until = clock::now() + delay; clock::now() < until;) {
      if (yields_) sched_yield();
    }
  }

private:
  arrivals::pattern what_;
  arrivals::setting around_;
  std::size_t rank_;
  std::uint64_t first_call_;
  bool yields_;
};

}  // namespace muster::bench
