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

#include "algos/algorithms.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_slots.hpp"
#include "algos/patterns/ports.hpp"
#include "algos/patterns/shared_buffer.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/staging.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

/// Of the allgather, as one rank sees it.
struct blocks_in_node {
  context& me;
  const arguments& call;
  node_slots slots;
  std::span<std::byte> shared;  // the leader's
  track filled;                 // item 0: a rank's own block is in the shared buffer
  track received;               // item s - 1: so are those of the node s steps back

  blocks_in_node(context& me, const arguments& call)
      : me(me),
        call(call),
        slots(me.shape(), call.bytes()),
        filled(me, 0, signals),
        received(me, 1, signals) {}

  std::size_t node_back(std::size_t steps) const {
    const std::size_t nodes = me.shape().nodes();
    return (node_number(me) + nodes - steps) % nodes;
  }
  task<> copy_out(std::size_t node) {
    for (const std::size_t rank : me.shape().ranks_of(node)) {
      co_await me.copy(call.received_from(rank), slots.of_rank(shared, rank));
    }
  }
  task<> share_own() {
    co_await me.copy(slots.of_rank(shared, me.rank()), call.own_block(me.rank()));
    filled.post(0);
  }
};

/// Every k-th node's blocks, from `first` steps away on.
task<> send_to_leaders(blocks_in_node& in, std::size_t first, std::size_t ports) {
  const std::size_t nodes = in.me.shape().nodes();
  const std::size_t mine = node_number(in.me);
  for (std::size_t step = first; step < nodes; step += ports) {
    const std::size_t to = leader_of(in.me.shape(), (mine + step) % nodes);
    co_await in.me.deliver(to, in.slots.of_node(in.shared, mine));
  }
}

task<> receive_and_copy_out(blocks_in_node& in) {
  co_await in.copy_out(node_number(in.me));
  for (std::size_t step = 1; step < in.me.shape().nodes(); ++step) {
    const std::size_t node = in.node_back(step);
    co_await in.me.collect(leader_of(in.me.shape(), node), in.slots.of_node(in.shared, node));
    in.received.post(step - 1);
    co_await in.copy_out(node);
  }
}

task<> invite_leaders(blocks_in_node& in) {
  for (std::size_t step = 1; step < in.me.shape().nodes(); ++step) {
    const std::size_t node = in.node_back(step);
    co_await in.me.invite(leader_of(in.me.shape(), node), in.slots.of_node(in.shared, node).size());
  }
}

task<> lead(blocks_in_node& in) {
  co_await in.share_own();
  co_await invite_leaders(in);
  co_await in.filled.all_here(0);
  const std::size_t ports = std::min(ports_of(in.me), in.me.shape().nodes());
  std::vector<task<>> all;
  for (std::size_t port = 1; port <= ports; ++port) {
    all.push_back(send_to_leaders(in, port, ports));
  }
  all.push_back(receive_and_copy_out(in));
  co_await when_all(std::move(all));
}

task<> follow(blocks_in_node& in) {
  co_await in.share_own();
  co_await in.filled.all_here(0);
  co_await in.copy_out(node_number(in.me));
  for (std::size_t step = 1; step < in.me.shape().nodes(); ++step) {
    co_await in.received.arrived(0, step - 1);
    co_await in.copy_out(in.node_back(step));
  }
  in.received.take(0);
}

task<> run(context& me, const arguments& call) {
  blocks_in_node in(me, call);
  if (!is_leader(me)) {
    me.arrive();
    in.shared = co_await me.staging_of(0, in.slots.bytes());
    co_return co_await follow(in);
  }
  staging shared(me, in.slots.bytes());
  in.shared = shared.bytes();
  me.publish(shared.announcement());
  co_await lead(in);
  co_await in.received.taken(0);
  shared.release();
}

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return fits_into_shared_buffer(call.bytes() * ranks.size());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = of.nodes - 1;
  return {.messages = messages,
          .bytes = messages * of.ranks_a_node * call.bytes(),
          .connections = messages,
          .memory = of.nodes * of.ranks_a_node * call.bytes()};
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
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
