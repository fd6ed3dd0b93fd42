#include "transports/shm/parking.hpp"

#include <bit>

#include "transports/shm/fence.hpp"

namespace muster::shm {

void parking::rare_fence() const noexcept {
  if (asymmetric_fence_) {
    asymmetric_fence();
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void parking::wake_watchers() const noexcept {
  // acq_rel: whoever watches by now is `parked`, and is among the watchers.
  mine_.watched.exchange(0, std::memory_order_acq_rel);
  const auto watchers = job_.watchers_of(rank_);
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    // acquire: the same, of one that came in between.
    std::uint64_t left = watchers[i].exchange(0, std::memory_order_acquire);
    for (; left != 0; left &= left - 1) {
      const std::size_t rank = 64 * i + static_cast<std::size_t>(std::countr_zero(left));
      wake(rank);
    }
  }
}

void parking::watch(std::size_t rank) const noexcept {
  mine_.parked.store(1, std::memory_order_relaxed);
  // release: `parked` is seen by whoever finds this rank among the watchers, and that by whoever
  // takes the watch; read-modify-writes, so that this holds for all whose watch is taken at once.
  job_.watchers_of(rank)[rank_ / 64].fetch_or(std::uint64_t{1} << rank_ % 64,
                                              std::memory_order_release);
  job_.line(rank).watched.fetch_or(1, std::memory_order_release);
}

void parking::wake(std::size_t rank) const noexcept {
  std::atomic<std::uint32_t>& parked = job_.line(rank).parked;
  if (parked.exchange(0, std::memory_order_relaxed) != 0) doorbell::ring(job_.bell(rank));
}

void parking::arm() const noexcept {
  mine_.parked.store(1, std::memory_order_relaxed);
  if (job_.size() > 1) rare_fence();  // alone it is woken by nobody's announcement
}

void parking::disarm() const noexcept { mine_.parked.store(0, std::memory_order_relaxed); }

}  // namespace muster::shm
