// Allgather over nodes, through their leaders, each over all its connections at once.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all blocks
//  2  the leader sends its node's blocks to every other leader, all messages at once, and receives
//     theirs, all at once
//  3  when everything has come it says so, once, and all ranks of the node copy it out
//
// A node posts n-1 messages of p blocks over n-1 connections, all in use at the same time; N blocks
// of shared memory a node. `one_group_single` sends the same blocks step by step; `smp_direct` has
// k connections in use and tells of each node's blocks when they come, which costs n-1 notices, but
// lets long ones be copied out early.
//
// Source: Qian 2010 (5.5.1) and Qian, Rashti, Afsahi 2008 (5.1), the single-group multi-connection
// aware algorithm.

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/group_allgather.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t groups = 1;

task<> part(gathered_blocks& in) { return allgather_by_groups(in, groups); }

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_groups(of, call, groups);
}

}  // namespace

const algorithm allgather_one_group_multi = {
    .id = "one_group_multi",
    .what = collective::allgather,
    .summary = "node buffers, leaders send to all others at once, one notice when all has come",
    .source = "Qian 5.5.1",
    .formula = "n-1 messages of pm bytes, as many connections at once, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
