// What collectives with varying blocks are told where all blocks are alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster::bench {

/// Counts and displacements, in the library's own integers.
template <class Count>
class uniform_blocks {
public:
  /// `ranks` blocks of so many words. Costs a comparison where that is as it was.
  void arrange(Count words, std::size_t ranks) {
    if (counts_.size() == ranks && counts_[0] == words) return;
    counts_.assign(ranks, words);
    displacements_.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) displacements_[i] = static_cast<Count>(i) * words;
  }

  std::span<const Count> counts() const { return counts_; }
  std::span<const Count> displacements() const { return displacements_; }

private:
  std::vector<Count> counts_;
  std::vector<Count> displacements_;
};

}  // namespace muster::bench
