#pragma once

#include <cstddef>

#include "engine/collective/context.hpp"

/// The node leaders of hierarchical algorithms: who they are, and what they do among themselves.
namespace muster::algos {

/// The lowest rank of a node speaks for it between nodes.
inline std::size_t leader_of(const shape& ranks, std::size_t node) {
  return ranks.ranks_of(node).front();
}
inline bool is_leader(const context& me) { return me.node_index() == 0; }
inline std::size_t node_number(const context& me) { return me.shape().node_of(me.rank()); }

/// Dissemination among the leaders: returns when every node has come to it. ⌈log2 n⌉ rounds.
task<> leaders_barrier(context& me);

/// Combines the leaders' `bytes` in node order over a binomial tree; the leader of node 0 has the
/// result, the others' bytes are working memory. ⌈log2 n⌉ steps, each of all the bytes.
task<> leaders_reduce(context& me, std::span<std::byte> bytes);

/// The same with the result at every leader, bitwise the same, by recursive doubling. Where the
/// number of nodes is no power of two, each node too many first gives its bytes to a neighbour and
/// gets the result back at the end.
task<> leaders_allreduce(context& me, std::span<std::byte> bytes);

}  // namespace muster::algos
