#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "algos/patterns/copy_runs.hpp"
#include "algos/patterns/node_matrix.hpp"
#include "engine/collective/context.hpp"

/// What alltoalls share that exchange pieces between nodes, pairwise: in step s = 1 … n-1 each node
/// sends a piece to one other and receives one. Step 0 is between a node and itself.
namespace muster::algos {

/// Where a node's piece goes: the node that sends its own back (XOR) where they are a power of two,
/// else the one s further on.
inline std::size_t node_sent_to(const shape& ranks, std::size_t here, std::size_t step) {
  return std::has_single_bit(ranks.nodes()) ? here ^ step : (here + step) % ranks.nodes();
}
/// And where one comes from.
inline std::size_t node_received_from(const shape& ranks, std::size_t here, std::size_t step) {
  const std::size_t nodes = ranks.nodes();
  return std::has_single_bit(nodes) ? here ^ step : (here + nodes - step) % nodes;
}

/// How many ranks of every node can speak for it, of so many that are wanted.
inline std::size_t leaders_everywhere(const shape& ranks, std::size_t wanted) {
  std::size_t leaders = std::max<std::size_t>(wanted, 1);
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    leaders = std::min(leaders, ranks.ranks_of(node).size());
  }
  return leaders;
}

/// This rank's blocks for the ranks of a node, `sent(rank)`, into the piece that goes there.
template <class Sent>
task<> stage_piece(context& me, const node_matrix& pieces, std::span<std::byte> piece,
                   std::size_t node, Sent sent) {
  const std::span<const std::size_t> ranks = me.shape().ranks_of(node);
  const auto place = [&](std::size_t i) { return pieces.to(piece, me.node_index(), ranks[i]); };
  const auto block = [&](std::size_t i) { return sent(ranks[i]); };
  co_await copy_runs(me, ranks.size(), place, block);
}

/// What the ranks of a node sent to this one, out of the piece that came from there.
inline task<> copy_out_piece(context& me, const arguments& call, const node_matrix& pieces,
                             std::span<std::byte> piece, std::size_t node) {
  for (const std::size_t source : me.shape().ranks_of(node)) {
    co_await me.copy(call.received_from(source), pieces.from(piece, source, me.node_index()));
  }
}

/// Bytes that all blocks between a node's ranks and all others take, of the node where they take
/// most.
inline std::size_t most_bytes_of_pieces(const shape& ranks, const arguments& call) {
  std::size_t most = 0;
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    most = std::max(most, ranks.ranks_of(node).size());
  }
  return most * ranks.size() * call.bytes();
}

}  // namespace muster::algos
