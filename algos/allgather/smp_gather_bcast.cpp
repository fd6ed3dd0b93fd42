// Allgather over nodes: everything is gathered at one leader, who broadcasts it.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all blocks
//  2  the leaders gather at that of node 0, over a binomial tree: each sends its parent the blocks
//     of all nodes below itself, which follow each other
//  3  that leader broadcasts all N blocks to the others over the same tree, and each its copies to
//     its children at once
//  4  all ranks copy everything out of their node's buffer
//
// 2⌈log2 n⌉ steps; node 0 posts the most: ⌈log2 n⌉ messages of all N blocks. N blocks of shared
// memory a node. The paper also has a direct gather and broadcasts in hardware; the tree is the
// form for the short messages for which this algorithm is meant.
//
// Source: Qian 2010 (4.4.1), the SMP-aware gather and broadcast algorithm.

#include <bit>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

task<> gather(gathered_blocks& in, const binomial_tree& tree) {
  pooled_list<task<>> all;
  for (const auto& [child, below] : tree.children()) {
    all.push_back(in.me.expect(in.leader(child), in.slots.of_nodes(in.shared, child, below)));
  }
  co_await when_all(std::move(all));
  if (tree.is_root()) co_return;
  const auto blocks = in.slots.of_nodes(in.shared, tree.mine(), tree.below());
  co_await in.me.send(in.leader(tree.parent()), blocks);
}

task<> broadcast(gathered_blocks& in, const binomial_tree& tree) {
  const auto everything = in.slots.of_nodes(in.shared, 0, in.nodes());
  if (!tree.is_root()) co_await in.me.expect(in.leader(tree.parent()), everything);
  pooled_list<task<>> all;
  for (const auto& child : tree.children()) {
    all.push_back(in.me.send(in.leader(child.member), everything));
  }
  co_await when_all(std::move(all));
}

task<> part(gathered_blocks& in) {
  co_await in.share_own();
  if (is_leader(in.me)) {
    const binomial_tree over_nodes(in.nodes(), 0, in.here(), 1);
    co_await in.filled.all_here(0);
    co_await gather(in, over_nodes);
    co_await broadcast(in, over_nodes);
    in.received.post(0);
  }
  // Not even their own node's blocks before: they come again, into their places.
  co_await in.received.arrived(0, 0);
  co_await in.copy_out(in.here());
  co_await in.copy_out_other_nodes();
}

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  const auto children = static_cast<std::size_t>(std::bit_width(of.nodes - 1));
  const std::size_t everything = of.nodes * of.ranks_a_node * call.bytes();
  return {.messages = children,
          .bytes = children * everything,
          .connections = children,
          .memory = everything};
}

}  // namespace

const algorithm allgather_smp_gather_bcast = {
    .id = "smp_gather_bcast",
    .what = collective::allgather,
    .summary = "node buffers, gathered at one leader and broadcast to the others, over a tree",
    .source = "Qian 4.4.1",
    .formula = "⌈log2 n⌉ messages of npm bytes, as many connections, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
