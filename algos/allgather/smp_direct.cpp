// Allgather over nodes, through their leaders, each with all others at once.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all blocks
//  2  the leader sends its node's blocks straight to every other leader, k at a time
//  3  as soon as a node's blocks have come, all ranks of this node copy them out; their own node's
//     they copy while the others' are on their way
//
// A node posts n-1 messages of p blocks over n-1 connections; N blocks of shared memory a node.
//
// Source: Qian 2010 (4.4.2), the SMP-aware direct algorithm.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

/// To every k-th node, from `first` steps away on.
task<> send_to_leaders(gathered_blocks& in, std::size_t first, std::size_t ports) {
  for (std::size_t step = first; step < in.nodes(); step += ports) {
    co_await in.me.send(in.leader(in.node_ahead(step)), in.of_node(in.here()));
  }
}

task<> receive_and_copy_out(gathered_blocks& in) {
  co_await in.copy_out(in.here());
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t node = in.node_back(step);
    co_await in.me.receive(in.leader(node), in.of_node(node));
    in.received.post(step - 1);
    co_await in.copy_out(node);
  }
}

task<> invite_leaders(gathered_blocks& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t node = in.node_back(step);
    co_await in.me.invite(in.leader(node), in.of_node(node));
  }
}

task<> lead(gathered_blocks& in) {
  co_await in.share_own();
  co_await invite_leaders(in);
  co_await in.filled.all_here(0);
  const std::size_t ports = std::min(ports_of(in.me), in.nodes());
  pooled_list<task<>> all;
  for (std::size_t port = 1; port <= ports; ++port) {
    all.push_back(send_to_leaders(in, port, ports));
  }
  all.push_back(receive_and_copy_out(in));
  co_await when_all(std::move(all));
}

task<> follow(gathered_blocks& in) {
  co_await in.share_own();
  co_await in.copy_out_own_node();
  co_await in.copy_out_going_back();
}

task<> part(gathered_blocks& in) { return is_leader(in.me) ? lead(in) : follow(in); }

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_gathered_blocks(of, call, of.nodes - 1);
}

}  // namespace

const algorithm allgather_smp_direct = {
    .id = "smp_direct",
    .what = collective::allgather,
    .summary = "node buffers, leaders send straight to all others, copy-out overlapped",
    .source = "Qian 4.4.2",
    .formula = "n-1 messages of pm bytes, n-1 connections, npm bytes shared",
    .costs = costs,
    .has_ports = true,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
