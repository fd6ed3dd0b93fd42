// Direct scatter between any ranks, with any number of ports.
//
//  the root sends each rank its block from where it lies, k at a time; as soon as one has left, the
//  next but k-1 goes. Where nobody has chosen k, it is so large that ranks that come late hold up
//  nobody
//
// ⌈(N-1)/k⌉ steps; no block is passed on.
//
// Source: Qian 2010 (3.4.1), the direct algorithm.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/exchange/some_at_a_time.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.expect(call.root, call.result());
    co_return;
  }
  const auto transfer = [&](std::size_t to) { return me.send(to, call.sent_to(to)); };
  co_await transfer_with_all(me, transfer, ready_at_once(me));
  if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = (of.nodes - 1) * of.ranks_a_node;
  return {.messages = messages, .bytes = messages * call.bytes(), .connections = messages};
}

}  // namespace

const algorithm scatter_direct = {
    .id = "direct",
    .what = collective::scatter,
    .summary = "the root sends each rank its block, k at a time",
    .source = "Qian 3.4.1",
    .formula = "the root's node: (n-1)p messages of m bytes, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
