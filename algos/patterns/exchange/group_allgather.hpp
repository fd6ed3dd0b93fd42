#pragma once

#include <cstddef>

#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {

/// The core of an allgather over nodes in which `groups` leaders a node, each with its share of the
/// node's ranks, exchange their blocks with their like on all other nodes, all at once:
///
///  1  every rank puts its block into the node's shared buffer; a leader waits for those of its
///     group
///  2  leader j of every node sends its group's blocks to leader j of every other node, over all
///     connections at once; meanwhile all ranks copy their own node's blocks out
///  3  when all leaders have received everything they say so, once, and all ranks copy it out
///
/// A node of fewer ranks has as many groups as ranks. There leader j mod g stands in for leader j.
task<> allgather_by_groups(gathered_blocks& in, std::size_t groups);

/// What that costs.
node_cost cost_of_groups(const even_nodes& of, const arguments& call, std::size_t groups);

}  // namespace muster::algos
