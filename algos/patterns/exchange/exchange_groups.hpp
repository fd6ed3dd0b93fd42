#pragma once

#include <algorithm>
#include <cstddef>

#include <muster/coro/frame_pool.hpp>

namespace muster::algos {

/// Ranks shared out over as many groups as the highest power of k+1 says that is not above their
/// number: groups of one where it is that number, at most of k+1 ranks. The first rank of a group
/// speaks for it.
class exchange_groups {
public:
  exchange_groups(std::size_t ranks, std::size_t ports)
      : ranks_(ranks), base_(std::max<std::size_t>(std::min(ports + 1, ranks), 2)) {
    while (count_ * base_ <= ranks) count_ *= base_;
  }

  std::size_t count() const noexcept { return count_; }
  std::size_t base() const noexcept { return base_; }
  /// The first rank of a group; of group number `count()`, the number of ranks.
  std::size_t first(std::size_t group) const noexcept { return group * ranks_ / count_; }
  std::size_t group_of(std::size_t rank) const noexcept {
    return ((rank + 1) * count_ - 1) / ranks_;
  }
  /// Where groups have what `width` of them have: the first of those.
  static std::size_t aligned(std::size_t group, std::size_t width) noexcept {
    return group - group % width;
  }
  /// The groups with which one then exchanges it, to have what `base()` times as many have.
  pooled_list<std::size_t> partners(std::size_t group, std::size_t width) const {
    pooled_list<std::size_t> result;
    const std::size_t next_width = width * base_;
    const std::size_t begin = aligned(group, next_width);
    for (std::size_t j = 1; j < base_; ++j) {
      result.push_back(begin + (group - begin + j * width) % next_width);
    }
    return result;
  }

private:
  std::size_t ranks_;
  std::size_t base_;
  std::size_t count_ = 1;
};

}  // namespace muster::algos
