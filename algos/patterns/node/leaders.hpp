#pragma once

#include <cstddef>

#include <muster/run/context.hpp>

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

/// `reduce_members` among the leaders, in node order: at the first leader. The others' bytes are
/// working memory.
task<> leaders_reduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room);
/// The room for it, for vectors of up to so many bytes one after the other.
std::span<std::byte> room_for_leaders_below(context& me, std::size_t bytes);

/// `allreduce_members` among the leaders, in node order.
task<> leaders_allreduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room);

}  // namespace muster::algos
