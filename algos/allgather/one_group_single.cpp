// Allgather over nodes, through their leaders, each over one connection at a time.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all blocks
//  2  n-1 steps around a ring of the leaders: in each, one message with a node's blocks goes to the
//     right, that which came in the step before, and one comes from the left; only when it has come
//     does the next step begin
//  3  after each step all ranks of the node copy out what it brought, the leader during the next
//
// A node posts n-1 messages of p blocks one after the other; one connection in and one out. N
// blocks of shared memory a node. `one_group_multi` sends the same blocks at once, and `smp_direct`
// one message after the other, but to all leaders and without waiting for what comes.
//
// Source: Qian 2010 (5.4, 5.5.4), the single-group single-connection algorithm; the same in Qian,
// Rashti, Afsahi 2008.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

task<> exchange(gathered_blocks& in, std::size_t step) {
  co_await send_and_receive(in.me, in.leader(in.node_ahead(1)), in.of_node(in.node_back(step - 1)),
                            in.leader(in.node_back(1)), in.of_node(in.node_back(step)));
  in.received.post(step - 1);
}

task<> lead(gathered_blocks& in) {
  co_await in.share_own();
  co_await in.filled.all_here(0);
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    auto network = exchange(in, step);
    auto copying = in.copy_out(in.node_back(step - 1));
    co_await when_all(std::move(network), std::move(copying));
  }
  co_await in.copy_out(in.node_back(in.nodes() - 1));
}

task<> follow(gathered_blocks& in) {
  co_await in.share_own();
  co_await in.copy_out_own_node();
  co_await in.copy_out_going_back();
}

task<> part(gathered_blocks& in) { return is_leader(in.me) ? lead(in) : follow(in); }

task<> run(context& me, const arguments& call) { return with_gathered_blocks(me, call, part); }

node_cost costs(const even_nodes& of, const arguments& call) {
  node_cost cost = cost_of_gathered_blocks(of, call, of.nodes - 1);
  cost.connections = std::min<std::size_t>(cost.messages, 1);
  return cost;
}

}  // namespace

const algorithm allgather_one_group_single = {
    .id = "one_group_single",
    .what = collective::allgather,
    .summary = "node buffers, whole nodes' blocks around a ring of leaders, one step after another",
    .source = "Qian 5.5.4",
    .formula = "n-1 messages of pm bytes, one after another, 1 connection, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
