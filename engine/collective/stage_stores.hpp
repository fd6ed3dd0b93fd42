#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/collective/stream_copy.hpp"
#include "engine/progress/ticks.hpp"

namespace muster {

/// How a rank writes into its stage: by ordinary or by streaming stores, whichever took its core
/// less time lately.
///
/// Ordinary stores take each line from the cache of its last reader and leave it in this core's,
/// from where the next reader gets it fast, if their cores share a cache. If they do not, each
/// store waits for the line to travel, and so does each load afterwards. Streaming stores go past
/// the caches and wait for nothing. The system moves ranks, and hosts move virtual processors,
/// while a job runs: so the other way is tried again every few milliseconds.
class stage_stores {
public:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    constexpr std::size_t least_timed = 8 * 1024;
    if (bytes < least_timed) {
      copy_by(better_, to, from, bytes);
      return;
    }
    const std::uint64_t begin = count_ticks();
    const way now = begin - tried_[other(better_)] > ticks_between_tries ? other(better_) : better_;
    copy_by(now, to, from, bytes);
    const std::uint64_t end = count_ticks();
    tried_[now] = end;
    learn(now, static_cast<double>(end - begin) / static_cast<double>(bytes));
  }

private:
  enum way : std::size_t { ordinary, streaming };
  static constexpr std::uint64_t ticks_between_tries = std::uint64_t{1} << 23;  // some 3 ms

  static way other(way one) noexcept { return one == ordinary ? streaming : ordinary; }
  static void copy_by(way how, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (how == streaming) {
      stream_copy(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  void learn(way tried, double ticks_per_byte) noexcept {
    double& known = cost_[tried];
    // A rank that lost its core meanwhile has learned nothing of its stores.
    constexpr double most_change = 4;
    constexpr double weight = 0.25;
    if (known == 0) known = ticks_per_byte;
    known += weight * (std::min(ticks_per_byte, most_change * known) - known);
    // What streaming stores save readers, who find the data in memory, is less than it seems here.
    constexpr double clearly = 0.5;
    better_ = cost_[streaming] < clearly * cost_[ordinary] ? streaming : ordinary;
  }

  way better_ = ordinary;
  std::array<double, 2> cost_{};          // ticks a byte, smoothed; 0: never tried
  std::array<std::uint64_t, 2> tried_{};  // when, last
};

}  // namespace muster
