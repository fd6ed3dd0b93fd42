#pragma once

#include <cstddef>
#include <span>

#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_matrix.hpp"
#include "algos/patterns/shared_buffer.hpp"

/// What the alltoalls share whose blocks pass through a buffer of each node.
namespace muster::algos {

/// Such an alltoall, as one rank sees it.
struct node_alltoall {
  context& me;
  const arguments& call;
  node_matrix blocks;
  std::span<const std::byte> sent;  // this rank's blocks, in the order of their destinations
  std::span<std::byte> shared;      // the leader's
  track given;                      // posted: a rank's blocks are in the buffer
  track received;  // posted: other nodes' are; taken: a rank needs the buffer no more

  node_alltoall(context& me, const arguments& call, node_matrix::order in_piece);

  std::size_t here() const { return node_number(me); }
  std::size_t nodes() const { return me.shape().nodes(); }
  std::size_t node_ahead(std::size_t steps) const { return (here() + steps) % nodes(); }
  std::size_t node_back(std::size_t steps) const { return (here() + nodes() - steps) % nodes(); }

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

/// A rank's `part`, with a buffer that the leader provides until all ranks have taken item `last`
/// of `received`.
task<> run_in_node_buffer(node_alltoall& in, std::size_t bytes, std::size_t last,
                          task<> (*part)(node_alltoall&));

/// The leader's: sends each other node its piece and receives the one that comes from it, to which
/// it invites that node's leader before. In step s it sends to the node s further on and receives
/// from the one s back; neither waits for the other, so that a step's latency holds up nothing.
task<> invite_leaders(node_alltoall& in);
task<> exchange_pieces(node_alltoall& in);

/// Ranks of the largest node.
std::size_t most_ranks_a_node(const shape& ranks);

/// For algorithms that stage all that leaves and all that comes.
bool fits_both_ways(const shape& ranks, const machine&, const arguments& call);
/// What they stage, in a node of a team of equal ones.
std::size_t memory_both_ways(const even_nodes& of, const arguments& call);

}  // namespace muster::algos
