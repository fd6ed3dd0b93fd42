#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "engine/collective/context.hpp"

namespace muster::algos {

/// Places for one block of every rank, node after node, so that what belongs to a node lies in one
/// piece, however the ranks are spread: where hierarchical algorithms stage.
class node_slots {
public:
  node_slots(const shape& ranks, std::size_t block_bytes)
      : ranks_(ranks), block_(block_bytes), first_(ranks.nodes() + 1, 0) {
    for (std::size_t node = 0; node < ranks.nodes(); ++node) {
      first_[node + 1] = first_[node] + ranks.ranks_of(node).size();
    }
  }

  /// Of all.
  std::size_t bytes() const noexcept { return first_.back() * block_; }
  std::span<std::byte> of_node(std::span<std::byte> all, std::size_t node) const noexcept {
    return all.subspan(first_[node] * block_, (first_[node + 1] - first_[node]) * block_);
  }
  std::span<std::byte> of_rank(std::span<std::byte> all, std::size_t rank) const noexcept {
    const std::size_t slot = first_[ranks_.node_of(rank)] + ranks_.index_of(rank);
    return all.subspan(slot * block_, block_);
  }

private:
  const shape& ranks_;
  std::size_t block_;
  std::vector<std::size_t> first_;  // slot of each node
};

}  // namespace muster::algos
