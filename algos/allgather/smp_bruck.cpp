// Allgather over nodes, through their leaders, who double what they have in every step.
//
//  1  every rank copies its block into the node's shared buffer, in which its own node's places
//     come first and those of the nodes after it follow, going round
//  2  ⌈log_{k+1} n⌉ steps: when the leader of node i has the blocks of the d nodes from i on, it
//     sends them to the leaders of the nodes i-d, i-2d … i-kd, and as many come from i+d … i+kd; in
//     the last step no more than are missing
//  3  after each step all ranks of the node copy out what it brought, and the leader does so while
//     the next step is under way: each block straight to its place, so that nothing is shifted
//
// A node sends and receives each remote block once, (n-1)p blocks; N blocks of shared memory a
// node.
//
// Source: Qian 2010 (4.4.2), the SMP-aware Bruck algorithm.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

/// Copies out what this node and those after it have, from one up to another.
task<> copy_out_nodes(gathered_blocks& in, std::size_t from, std::size_t end) {
  for (std::size_t i = from; i < std::min(end, in.nodes()); ++i) {
    co_await in.copy_out(in.node_ahead(i));
  }
}

/// One message each way of a step, of a leader that has the blocks of `distance` nodes.
task<> exchange(gathered_blocks& in, std::size_t distance, std::size_t away) {
  const std::size_t count = std::min(distance, in.nodes() - away);
  const std::size_t from = in.node_ahead(away);
  return send_and_receive(in.me, in.leader(in.node_back(away)),
                          in.slots.of_nodes(in.shared, in.here(), count), in.leader(from),
                          in.slots.of_nodes(in.shared, from, count));
}

task<> take_step(gathered_blocks& in, std::size_t distance, std::size_t ports) {
  pooled_list<task<>> all;
  for (std::size_t port = 1; port <= ports && port * distance < in.nodes(); ++port) {
    all.push_back(exchange(in, distance, port * distance));
  }
  co_await when_all(std::move(all));
}

task<> lead(gathered_blocks& in, std::size_t ports) {
  std::size_t copied = 0;
  std::size_t step = 0;
  for (std::size_t distance = 1; distance < in.nodes(); distance *= ports + 1) {
    auto network = take_step(in, distance, ports);
    auto copying = copy_out_nodes(in, copied, distance);
    co_await when_all(std::move(network), std::move(copying));
    in.received.post(step++);
    copied = distance;
  }
  co_await copy_out_nodes(in, copied, in.nodes());
}

task<> follow(gathered_blocks& in, std::size_t ports) {
  co_await in.copy_out(in.here());
  std::size_t step = 0;
  for (std::size_t distance = 1; distance < in.nodes(); distance *= ports + 1) {
    co_await in.received.arrived(0, step++);
    co_await copy_out_nodes(in, distance, distance * (ports + 1));
  }
}

task<> part(gathered_blocks& in) {
  const std::size_t ports = ports_of(in.me);
  co_await in.share_own();
  co_await in.filled.all_here(0);
  if (is_leader(in.me)) {
    co_await lead(in, ports);
  } else {
    co_await follow(in, ports);
  }
}

task<> run(context& me, const arguments& call) {
  return with_gathered_blocks(me, call, part, node_number(me));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t ports = ports_of(call);
  std::size_t messages = 0;
  for (std::size_t distance = 1; distance < of.nodes; distance *= ports + 1) {
    messages += std::min(ports, (of.nodes - 1) / distance);
  }
  return cost_of_gathered_blocks(of, call, messages);
}

}  // namespace

const algorithm allgather_smp_bruck = {
    .id = "smp_bruck",
    .what = collective::allgather,
    .summary = "node buffers, leaders multiply what they have in each step, copy-out overlapped",
    .source = "Qian 4.4.2",
    .formula =
        "up to k⌈log_{k+1} n⌉ messages, as many connections, (n-1)pm bytes, npm bytes shared",
    .costs = costs,
    .has_ports = true,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
