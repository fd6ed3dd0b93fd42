#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace muster::mpi {

/// What the MPI says is gone, for whoever keeps account of it to look at later. The MPI says so
/// while it holds locks of its own, under which nobody may wait for the shim.
template <class Thing>
class deferred {
public:
  void add(Thing one) {
    const std::lock_guard hold(lock_);
    all_.push_back(std::move(one));
    // release: with what was added.
    any_.store(true, std::memory_order_release);
  }
  bool any() const noexcept { return any_.load(std::memory_order_acquire); }
  std::vector<Thing> take() {
    const std::lock_guard hold(lock_);
    any_.store(false, std::memory_order_relaxed);
    return std::exchange(all_, {});
  }

private:
  std::mutex lock_;
  std::vector<Thing> all_;
  std::atomic<bool> any_{false};
};

}  // namespace muster::mpi
