#pragma once

#include <atomic>

#include "tools/mpi/pending.hpp"

namespace muster::mpi {

/// Operations that somebody puts down wherever he is, for a visit to pick up.
class pending_stack {
public:
  bool empty() const noexcept {
    // relaxed: what is in it is looked at when it is taken.
    return top_.load(std::memory_order_relaxed) == nullptr;
  }
  void push(pending& one) noexcept {
    one.below = top_.load(std::memory_order_relaxed);
    // release: what is left behind in it.
    while (!top_.compare_exchange_weak(one.below, &one, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }
  /// Empties it; calls `visit(one)` for each, which may delete it.
  template <class Visit>
  void take(Visit visit) {
    // acquire: see push.
    pending* one = top_.exchange(nullptr, std::memory_order_acquire);
    while (one != nullptr) {
      pending* const below = one->below;
      visit(*one);
      one = below;
    }
  }

private:
  std::atomic<pending*> top_{nullptr};
};

}  // namespace muster::mpi
