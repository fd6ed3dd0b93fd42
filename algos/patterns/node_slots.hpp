#pragma once

#include <cstddef>
#include <span>

#include "engine/collective/context.hpp"

namespace muster::algos {

/// Places for one block of every rank, node after node, so that what belongs to a node lies in one
/// piece, however the ranks are spread: where hierarchical algorithms stage. They begin with any
/// node and go round.
class node_slots {
public:
  node_slots(const shape& ranks, std::size_t block_bytes, std::size_t first_node = 0)
      : ranks_(ranks), block_(block_bytes), begin_(first_node), first_(ranks.nodes() + 1, 0) {
    for (std::size_t i = 0; i < ranks.nodes(); ++i) {
      first_[i + 1] = first_[i] + ranks.ranks_of((begin_ + i) % ranks.nodes()).size();
    }
  }

  /// Of all.
  std::size_t bytes() const noexcept { return first_.back() * block_; }
  std::span<std::byte> of_node(std::span<std::byte> all, std::size_t node) const noexcept {
    return of_nodes(all, node, 1);
  }
  /// Of so many nodes from one on, which lie before those that go round.
  std::span<std::byte> of_nodes(std::span<std::byte> all, std::size_t node,
                                std::size_t count) const noexcept {
    const std::size_t from = first_[place_of(node)];
    return all.subspan(from * block_, (first_[place_of(node) + count] - from) * block_);
  }
  std::span<std::byte> of_rank(std::span<std::byte> all, std::size_t rank) const noexcept {
    return of_ranks(all, rank, 1);
  }
  /// Of so many ranks of a node, from one on.
  std::span<std::byte> of_ranks(std::span<std::byte> all, std::size_t rank,
                                std::size_t count) const noexcept {
    const std::size_t slot = first_[place_of(ranks_.node_of(rank))] + ranks_.index_of(rank);
    return all.subspan(slot * block_, count * block_);
  }

private:
  std::size_t place_of(std::size_t node) const noexcept {
    return (node + ranks_.nodes() - begin_) % ranks_.nodes();
  }

  const shape& ranks_;
  std::size_t block_;
  std::size_t begin_;               // the node whose slots come first
  pooled_list<std::size_t> first_;  // slot of each node from there on
};

}  // namespace muster::algos
