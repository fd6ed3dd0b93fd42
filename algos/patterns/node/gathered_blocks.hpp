#pragma once

#include <cstddef>
#include <span>

#include "algos/patterns/node/node_buffer.hpp"
#include "algos/patterns/node/node_slots.hpp"

/// What the allgathers over nodes share, of blocks all alike or of lengths that all ranks know.
namespace muster::algos {

/// The shared buffer of a node, with a place for every rank's block, as a rank of the node sees it.
///
/// Every rank puts its own block in; some ranks receive those of other nodes into it; all copy from
/// it what has come.
struct gathered_blocks : node_buffer {
  const node_slots slots;

  gathered_blocks(context& me, const arguments& call, std::size_t first_node)
      : node_buffer(me, call), slots(me.shape(), block_lengths(call), first_node) {}

  /// The places of a node's blocks.
  std::span<std::byte> of_node(std::size_t node) const noexcept {
    return slots.of_node(shared, node);
  }

  /// Puts this rank's own block in.
  task<> share_own();
  /// Copies a node's blocks, which have come, into this rank's result.
  task<> copy_out(std::size_t node);
  /// The same with this node's, as soon as all its ranks have put them in.
  task<> copy_out_own_node();
  task<> copy_out_other_nodes();
  /// The same with all nodes' but this one's, going back from it, where segment s - 1 of the leader
  /// says that those of the node s steps back have come.
  task<> copy_out_going_back();
};

/// One rank's part of an allgather, around `part`: the node's first rank provides the buffer, and
/// so many bytes after it, for as long as its ranks are in it. Of the slots those of `first_node`
/// come first.
task<> with_gathered_blocks(context& me, const arguments& call, task<> (*part)(gathered_blocks&),
                            std::size_t first_node = 0, std::size_t more_bytes = 0);

/// Whether such a buffer is not too long.
bool suits_gathered_blocks(const shape& ranks, const machine&, const arguments& call);

/// What every such algorithm costs that takes each node's blocks to each other node once: they go
/// in so many messages, over as many connections.
node_cost cost_of_gathered_blocks(const even_nodes& of, const arguments& call,
                                  std::size_t messages);

}  // namespace muster::algos
