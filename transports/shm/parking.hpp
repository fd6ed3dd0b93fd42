#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <muster/wire/board.hpp>

#include "transports/shm/job.hpp"

namespace muster::shm {

/// How a rank sleeps until another announces something, and wakes those who sleep until it does.
///
/// A sleeper says at whomever it waits for that it watches, then looks at what it waits for;
/// whoever announces stores, then looks whether it is watched. One of the two sees the other.
class parking {
public:
  /// \param of outlives this
  parking(const job& of, std::size_t rank) noexcept
      : job_(of),
        rank_(rank),
        mine_(of.line(rank)),
        asymmetric_fence_(of.machine().asymmetric_fence) {}

  void announce(wire::counter& word, std::uint64_t value) const noexcept {
    word.store(value, std::memory_order_release);
    frequent_fence();
    // relaxed: ordered by the fence.
    if (mine_.watched.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_watchers();
    }
  }

  // Two sides that each store, then load what the other stores, both need a full fence, unless the
  // rarer side makes all others pass one: then only the compiler must keep the order on the other.
  void frequent_fence() const noexcept {
    if (asymmetric_fence_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  void rare_fence() const noexcept;
  /// What `announce` looks at; null where it must pass a fence before that.
  const std::atomic<std::uint32_t>* watched_where_fences_are_rare() const noexcept {
    return asymmetric_fence_ ? &mine_.watched : nullptr;
  }

  /// Before `arm`: what `rank`, of the job, announces from now on wakes this one.
  void watch(std::size_t rank) const noexcept;

  /// After that: this rank sleeps, or is about to. Whoever announces something from now on sees it.
  void arm() const noexcept;
  void disarm() const noexcept;
  /// Wakes a rank of the job if it sleeps.
  void wake(std::size_t rank) const noexcept;

private:
  void wake_watchers() const noexcept;

  const job& job_;
  std::size_t rank_;  // of the job
  rank_line& mine_;
  bool asymmetric_fence_;
};

}  // namespace muster::shm
