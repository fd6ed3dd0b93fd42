// Short reduce over nodes where whoever completes a node's contributions combines and sends them.
//
//  1  every rank but the root leaves its contribution beside its arrival; those of other nodes than
//     the root's count themselves in, and all but the last are done
//  2  the last one combines its node's contributions, in rank order, and sends the sum to the root
//  3  the root combines its own node's as they come, in rank order where that matters, and then the
//     nodes' sums in the order of the nodes
//
// A node posts one message of m bytes. But for the root nobody waits for anybody: neither a leader
// for its local peers nor they for it. The order does not depend on who is last, so that neither do
// the bits of the result.
//
// Source: the node's part of Tipparaju, Nieplocha, Panda 2003 (2.2), its leader not fixed;
// see docs/decisions/20-whoever-is-last.md.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"
#include "algos/patterns/node/leaders.hpp"

namespace muster::algos {
namespace {

task<> combine_and_send(context& me, const arguments& call) {
  const std::span<std::byte> sum = me.scratch(call.bytes());
  const published_inputs inputs{me, call.bytes()};
  const std::byte* const own = call.contribution().data();
  co_await combine_by_rank(me, inputs, own, sum.data(), call.count);
  co_await me.send(call.root, sum);
}

task<> receive_sum(context& me, std::size_t node, std::span<std::byte> place) {
  const std::size_t from = co_await me.sender_among(me.shape().ranks_of(node));
  co_await me.receive(from, place);
}

task<> combine_all(context& me, const arguments& call) {
  const std::size_t nodes = me.shape().nodes();
  pooled<std::byte> sums(nodes * call.bytes());
  pooled<const std::byte*> inputs(nodes);
  pooled_list<task<>> all;
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::span place(sums.data() + node * call.bytes(), call.bytes());
    inputs[node] = place.data();
    if (node != node_number(me)) {
      all.push_back(receive_sum(me, node, place));
      continue;
    }
    const published_inputs local_peers{me, call.bytes()};
    const std::byte* const own = call.contribution().data();
    all.push_back(combine_arrivals(me, local_peers, own, place.data(), call.count));
  }
  co_await when_all(std::move(all));
  co_await me.combine(call.receive, inputs, call.count);
}

task<> run(context& me, const arguments& call) {
  if (me.rank() == call.root) {
    me.arrive();
    co_await combine_all(me, call);
    co_return;
  }
  me.publish(call.contribution());
  if (me.shape().node_of(call.root) == node_number(me)) co_return;
  const bool completes = co_await me.count_in();
  if (completes) co_await combine_and_send(me, call);
}

bool suits(const shape& ranks, const machine& measured, const arguments& call) {
  return combines_by_node(ranks, measured, call) && call.bytes() <= wire::short_stage_bytes &&
         sent_uninvited(measured, call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = of.nodes == 1 ? 0 : 1;
  return {.messages = messages, .bytes = messages * call.bytes(), .connections = messages};
}

}  // namespace

const algorithm reduce_last_combines = {
    .id = "last_combines",
    .what = collective::reduce,
    .summary = "whoever completes a node's contributions combines them and sends them to the root",
    .source = "SRM 2.2, the leader not fixed",
    .needs =
        "up to 8 KiB, so short that nobody has to invite it; a reduction that commutes, or "
        "nodes of consecutive ranks",
    .formula = "1 message of m bytes, 1 connection",
    .costs = costs,
    .suits = suits,
    .stages = one_way_stages,
    .run = run,
};

}  // namespace muster::algos
