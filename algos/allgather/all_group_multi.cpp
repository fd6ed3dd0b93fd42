// Allgather over nodes in which every rank leads a column: the ranks with its index on all nodes.
//
//  1  every rank sends its block to all others of its column and receives theirs, straight into the
//     node's shared buffer, all at once; its own it copies there
//  2  when its column is complete it says so, once; when all are, all ranks of the node copy
//     everything out
//
// A node posts p(n-1) messages of one block over as many connections, all in use at the same time,
// from all its cores; N blocks of shared memory a node, each written once. Where nodes are uneven
// columns are incomplete: on a node of g ranks rank j mod g stands in for rank j.
//
// Source: Qian 2010 (5.5.3) and Qian, Rashti, Afsahi 2008 (5.3), the multi-group multi-connection
// aware algorithm with a group for every core.

#include <limits>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/group_allgather.hpp"

namespace muster::algos {
namespace {

/// As many as a node has ranks.
constexpr std::size_t groups = std::numeric_limits<std::size_t>::max();

task<> part(gathered_blocks& in) { return allgather_by_groups(in, groups); }

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_groups(of, call, groups);
}

}  // namespace

const algorithm allgather_all_group_multi = {
    .id = "all_group_multi",
    .what = collective::allgather,
    .summary = "node buffers, every rank sends to its like on all other nodes at once",
    .source = "Qian 5.5.3",
    .formula = "p(n-1) messages of m bytes, as many connections at once, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
