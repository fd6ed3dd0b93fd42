// Allgather over nodes, through several leaders a node, each for its share of the node's ranks.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all
//     blocks; each of the g leaders waits for its own group's
//  2  leader j of every node sends its group's blocks to leader j of every other node and receives
//     theirs, all at once
//  3  when everything has come to a leader it says so, once; when all have, all ranks of the node
//     copy it out
//
// A node posts g(n-1) messages of p/g blocks over as many connections, all in use at the same time,
// from g cores; N blocks of shared memory a node. g is 2, or as chosen, and on a node with fewer
// ranks their number; there leader j mod g stands in for leader j.
//
// Source: Qian 2010 (5.5.3) and Qian, Rashti, Afsahi 2008 (5.3), the multi-group multi-connection
// aware algorithm with two groups.

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/group_allgather.hpp"

namespace muster::algos {
namespace {

std::size_t groups_of(const arguments& call) { return call.how.groups == 0 ? 2 : call.how.groups; }

task<> part(gathered_blocks& in) { return allgather_by_groups(in, groups_of(in.call)); }

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_groups(of, call, groups_of(call));
}

}  // namespace

const algorithm allgather_two_group_multi = {
    .id = "two_group_multi",
    .what = collective::allgather,
    .summary = "node buffers, several leaders a node send to their like at once",
    .source = "Qian 5.5.3",
    .formula = "g(n-1) messages of pm/g bytes, as many connections at once, npm bytes shared",
    .costs = costs,
    .has_groups = true,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
