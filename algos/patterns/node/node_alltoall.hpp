#pragma once

#include <cstddef>
#include <span>

#include "algos/patterns/node/node_buffer.hpp"
#include "algos/patterns/node/node_matrix.hpp"

/// What the alltoalls share whose blocks pass through a buffer of each node.
namespace muster::algos {

/// Such an alltoall, as one rank sees it.
struct node_alltoall : node_buffer {
  node_matrix blocks;
  std::span<const std::byte> sent;  // this rank's blocks, in the order of their destinations

  node_alltoall(context& me, const arguments& call,
                node_matrix::order in_piece = node_matrix::order::by_source);

  // Of a buffer that holds all that leaves and, behind it, all that comes; what stays on the node
  // is among what leaves.
  std::size_t bytes_both_ways() const { return 2 * blocks.bytes(); }
  std::span<std::byte> piece_to(std::size_t node) const { return blocks.of_node(shared, node); }
  std::span<std::byte> piece_from(std::size_t node) const {
    return node == here() ? piece_to(node) : blocks.of_node(shared.subspan(blocks.bytes()), node);
  }

  /// Copies this rank's blocks for a node into the piece that goes there.
  task<> give(std::size_t node, std::span<std::byte> piece);
  task<> give_all();
  /// Copies the blocks for this rank out of the piece that came from a node.
  task<> take(std::size_t node, std::span<std::byte> piece);
  task<> take_all();
};

/// The leader's: sends each other node its piece and receives the one that comes from it, to which
/// it invites that node's leader before. In step s it sends to the node s further on and receives
/// from the one s back; neither waits for the other, so that a step's latency holds up nothing.
task<> invite_leaders(node_alltoall& in);
task<> exchange_pieces(node_alltoall& in);
/// All of it: the ranks of a node give their blocks to the leader, the leaders exchange pieces, and
/// the ranks take theirs.
task<> alltoall_of_leaders(node_alltoall& in);

/// Bytes of all blocks between a node's ranks and all others, of the node where they are most.
inline std::size_t most_bytes_of_pieces(const shape& ranks, const arguments& call) {
  return ranks.largest_node() * ranks.size() * call.bytes();
}
/// For algorithms that stage all that leaves and all that comes.
bool fits_both_ways(const shape& ranks, const machine&, const arguments& call);

/// What it costs to send each other node its piece in one message, and to stage so many.
node_cost cost_of_pieces(const even_nodes& of, const arguments& call, std::size_t staged);
/// The same where all that leaves is staged, and all that comes but from the node itself.
node_cost cost_of_pieces_both_ways(const even_nodes& of, const arguments& call);

}  // namespace muster::algos
