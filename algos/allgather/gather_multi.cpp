// Allgather over nodes in which every core of a node sends its share of the node's messages.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all
//     blocks, and its own node's blocks out of it: an allgather of the node
//  2  the ranks of equal index on all nodes are a group; its master gathers. That of group j is on
//     node j: from every other node the rank of its group sends it all blocks of that node, all at
//     once
//  3  when everything has come to the master it says so, once, and all ranks of its node copy it
//     out
//
// Every node has one master. Where there are more nodes than groups, group j has more of them, on
// the nodes j, j+p, j+2p …; where there are fewer, the last groups have none. On a node with fewer
// ranks than its groups want, the rank with the index modulo their number stands in.
//
// A node posts n-1 messages of p blocks over n-1 connections, which are spread over its ranks; N
// blocks of shared memory a node.
//
// Source: Qian 2010 (5.5.2) and Qian, Rashti, Afsahi 2008 (5.2), the multi-group gather-based
// multi-connection aware algorithm.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/simultaneous.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

/// The index, on a node, of the rank that is in the group of another node's master.
std::size_t member_index(const gathered_blocks& in, std::size_t node, std::size_t masters_node) {
  return masters_node % in.me.shape().ranks_of(node).size();
}
std::size_t member(const gathered_blocks& in, std::size_t node, std::size_t masters_node) {
  return in.me.shape().ranks_of(node)[member_index(in, node, masters_node)];
}

/// What this rank sends to the masters of its group, and receives if it is a master.
simultaneous messages_of(gathered_blocks& in) {
  const bool is_master = member(in, in.here(), in.here()) == in.me.rank();
  simultaneous result(in.me);
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    if (member(in, in.here(), to) == in.me.rank()) {
      result.send(member(in, to, to), in.of_node(in.here()));
    }
    const std::size_t from = in.node_back(step);
    if (is_master) result.receive(member(in, from, in.here()), in.of_node(from));
  }
  return result;
}

task<> exchange(gathered_blocks& in, simultaneous& all) {
  co_await in.filled.all_here(0);
  co_await all.run();
  in.received.post(0);
}

task<> part(gathered_blocks& in) {
  co_await in.share_own();
  simultaneous all = messages_of(in);
  co_await all.invite();
  auto network = exchange(in, all);
  auto copying = in.copy_out_own_node();
  co_await when_all(std::move(network), std::move(copying));
  co_await in.received.arrived(member_index(in, in.here(), in.here()), 0);
  co_await in.copy_out_other_nodes();
}

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_gathered_blocks(of, call, of.nodes - 1);
}

}  // namespace

const algorithm allgather_gather_multi = {
    .id = "gather_multi",
    .what = collective::allgather,
    .summary = "node buffers, one master a node to whom a different rank of each other node sends",
    .source = "Qian 5.5.2",
    .formula = "n-1 messages of pm bytes, as many connections at once, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
