#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// How long the block of each rank is, in bytes: they are all alike, or vary as all ranks know.
class block_lengths {
public:
  explicit block_lengths(std::size_t of_each) noexcept : unit_(of_each) {}
  /// Of an allgather or allgatherv.
  explicit block_lengths(const arguments& call) noexcept : unit_(call.bytes()) {
    if (call.receive_blocks == nullptr) return;
    unit_ = call.element();
    units_ = call.receive_blocks->counts;
  }

  std::size_t of_rank(std::size_t rank) const noexcept { return of_ranks({&rank, 1}); }
  /// Of their blocks together.
  std::size_t of_ranks(std::span<const std::size_t> ranks) const noexcept {
    if (units_.empty()) return ranks.size() * unit_;
    std::size_t all = 0;
    for (const std::size_t rank : ranks) all += units_[rank];
    return all * unit_;
  }

private:
  std::size_t unit_;
  std::span<const std::size_t> units_;  // of each rank, if not 1
};

/// Places for one block of every rank, node after node, so that what belongs to a node lies in one
/// piece, however the ranks are spread: where hierarchical algorithms stage. They begin with any
/// node and go round.
class node_slots {
public:
  node_slots(const shape& ranks, const block_lengths& lengths, std::size_t first_node = 0)
      : ranks_(ranks), lengths_(lengths), begin_(first_node), first_(ranks.nodes() + 1, 0) {
    for (std::size_t i = 0; i < ranks.nodes(); ++i) {
      first_[i + 1] = first_[i] + lengths.of_ranks(ranks.ranks_of((begin_ + i) % ranks.nodes()));
    }
  }

  /// Of all.
  std::size_t bytes() const noexcept { return first_.back(); }
  std::span<std::byte> of_node(std::span<std::byte> all, std::size_t node) const noexcept {
    return of_nodes(all, node, 1);
  }
  /// Of so many nodes from one on, which lie before those that go round.
  std::span<std::byte> of_nodes(std::span<std::byte> all, std::size_t node,
                                std::size_t count) const noexcept {
    const std::size_t from = first_[place_of(node)];
    return all.subspan(from, first_[place_of(node) + count] - from);
  }
  std::span<std::byte> of_rank(std::span<std::byte> all, std::size_t rank) const noexcept {
    return of_ranks(all, rank, 1);
  }
  /// Of so many ranks of a node, from one on.
  std::span<std::byte> of_ranks(std::span<std::byte> all, std::size_t rank,
                                std::size_t count) const noexcept {
    const std::size_t node = ranks_.node_of(rank);
    const std::size_t before = ranks_.index_of(rank);
    const auto ranks = ranks_.ranks_of(node);
    return all.subspan(first_[place_of(node)] + lengths_.of_ranks(ranks.first(before)),
                       lengths_.of_ranks(ranks.subspan(before, count)));
  }

private:
  std::size_t place_of(std::size_t node) const noexcept {
    return (node + ranks_.nodes() - begin_) % ranks_.nodes();
  }

  const shape& ranks_;
  block_lengths lengths_;
  std::size_t begin_;               // the node whose slots come first
  pooled_list<std::size_t> first_;  // where the slots of each node from there on begin
};

}  // namespace muster::algos
