#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <muster/team/shape.hpp>

#include "algos/patterns/node/node_slots.hpp"

/// Where hierarchical alltoalls stage: the blocks between a node's ranks and all ranks.
namespace muster::algos {

/// Places for a block from each rank of this node to every rank, or, as many, from every rank to
/// each of this node. What goes to a node, or comes from it, lies in one *piece*, however many
/// ranks the nodes have and however those are spread.
///
/// Within a piece the blocks of one source follow each other, in the order of their destinations,
/// or those to one destination, in the order of their sources; a piece leaves one node and arrives
/// at another in the same order.
class node_matrix {
public:
  enum class order { by_source, by_destination };

  /// For the ranks of node `here`.
  node_matrix(const shape& ranks, std::size_t here, std::size_t block_bytes,
              order in_piece = order::by_source)
      : ranks_(ranks),
        here_(ranks.ranks_of(here).size()),
        block_(block_bytes),
        order_(in_piece),
        first_(ranks.nodes() + 1, 0) {
    for (std::size_t node = 0; node < ranks.nodes(); ++node) {
      first_[node + 1] = first_[node] + ranks.ranks_of(node).size() * here_;
    }
  }

  /// Of all pieces.
  std::size_t bytes() const noexcept { return first_.back() * block_; }
  /// Of the piece to, or from, a node.
  std::size_t bytes_of(std::size_t node) const noexcept {
    return (first_[node + 1] - first_[node]) * block_;
  }
  /// Of the longest piece.
  std::size_t most_bytes() const noexcept {
    std::size_t most = 0;
    for (std::size_t node = 0; node < ranks_.nodes(); ++node) {
      most = std::max(most, bytes_of(node));
    }
    return most;
  }
  /// The piece to, or from, a node.
  std::span<std::byte> of_node(std::span<std::byte> all, std::size_t node) const noexcept {
    return all.subspan(first_[node] * block_, bytes_of(node));
  }

  /// In the piece to the node of rank `destination`: the block for it from this node's rank
  /// number `source`.
  std::span<std::byte> to(std::span<std::byte> piece, std::size_t source,
                          std::size_t destination) const noexcept {
    return at(piece, source, here_, ranks_.index_of(destination), ranks_at(destination));
  }
  /// In the piece from the node of rank `source`: the block from it for this node's rank number
  /// `destination`.
  std::span<std::byte> from(std::span<std::byte> piece, std::size_t source,
                            std::size_t destination) const noexcept {
    return at(piece, ranks_.index_of(source), ranks_at(source), destination, here_);
  }

  /// Of a piece by destination to a node: all blocks for its rank number `destination`, in the
  /// order of their sources.
  std::span<std::byte> row_to(std::span<std::byte> piece, std::size_t destination) const noexcept {
    return piece.subspan(destination * here_ * block_, here_ * block_);
  }
  /// Of a piece by source from a node: all blocks from its rank number `source`, in the order of
  /// their destinations.
  std::span<std::byte> row_from(std::span<std::byte> piece, std::size_t source) const noexcept {
    return row_to(piece, source);
  }

private:
  std::size_t ranks_at(std::size_t rank) const noexcept {
    return ranks_.ranks_of(ranks_.node_of(rank)).size();
  }
  std::span<std::byte> at(std::span<std::byte> piece, std::size_t source, std::size_t sources,
                          std::size_t destination, std::size_t destinations) const noexcept {
    const std::size_t slot = order_ == order::by_source ? source * destinations + destination
                                                        : destination * sources + source;
    return piece.subspan(slot * block_, block_);
  }

  const shape& ranks_;
  std::size_t here_;  // ranks of this node
  std::size_t block_;
  order order_;
  pooled_list<std::size_t> first_;  // slot of each piece
};

/// The same places for what leaves, the blocks of one source all together: it copies them straight,
/// but what goes to a node lies in as many pieces as this node has ranks.
class source_rows {
public:
  source_rows(const shape& ranks, std::size_t here, std::size_t block_bytes)
      : here_(ranks.ranks_of(here).size()), row_(ranks, block_lengths(block_bytes)) {}

  std::size_t bytes() const noexcept { return here_ * row_.bytes(); }
  /// From this node's rank number `source`: all that goes to a node.
  std::span<std::byte> of_node(std::span<std::byte> all, std::size_t source,
                               std::size_t node) const noexcept {
    return row_.of_node(of_source(all, source), node);
  }
  /// The block to a rank.
  std::span<std::byte> to(std::span<std::byte> all, std::size_t source,
                          std::size_t destination) const noexcept {
    return row_.of_rank(of_source(all, source), destination);
  }

private:
  std::span<std::byte> of_source(std::span<std::byte> all, std::size_t source) const noexcept {
    return all.subspan(source * row_.bytes(), row_.bytes());
  }

  std::size_t here_;  // ranks of this node
  node_slots row_;
};

}  // namespace muster::algos
