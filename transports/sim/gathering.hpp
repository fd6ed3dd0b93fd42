#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/sim/clock.hpp"

namespace muster::sim {

/// Where all ranks meet, again and again: each meeting is at the time at which its last rank came.
class gathering {
public:
  explicit gathering(std::size_t ranks) : here_(ranks) {}

  /// A rank has come, as of `when`; the number of the meeting.
  std::uint64_t come(std::size_t rank, picoseconds when) noexcept {
    here_[rank] = true;
    ++count_;
    coming_at_ = std::max(coming_at_, when);
    return met_;
  }
  /// A rank will not go on.
  void give_up(std::size_t rank) noexcept {
    if (here_[rank]) --count_;
    here_[rank] = false;
  }
  /// Holds the meeting if all of so many ranks have come.
  bool meet(std::size_t ranks) noexcept {
    if (count_ == 0 || count_ != ranks) return false;
    std::fill(here_.begin(), here_.end(), false);
    count_ = 0;
    ++met_;
    met_at_ = coming_at_;
    coming_at_ = 0;
    return true;
  }

  picoseconds met_at() const noexcept { return met_at_; }
  bool is_over(std::uint64_t meeting, picoseconds now) const noexcept {
    return meeting + 1 < met_ || (meeting + 1 == met_ && now >= met_at_);
  }

private:
  std::vector<bool> here_;
  std::size_t count_ = 0;
  std::uint64_t met_ = 0;
  picoseconds met_at_ = 0;     // the last one
  picoseconds coming_at_ = 0;  // the next one, as far as known
};

}  // namespace muster::sim
