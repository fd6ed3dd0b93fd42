// Pairwise alltoall between any ranks.
//
//  for s = 1 … N-1: send block r+s to rank r+s and receive block r-s from rank r-s, at once
//
// N-1 steps of one message each way; in each step every rank sends to one and receives from one.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one port; shifts take the place of XOR so
// that N need not be a power of two.

#include "algos/algorithms.hpp"
#include "algos/patterns/pairwise_exchange.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  std::span<const std::byte> all(call.sent_to(0).data(), call.bytes() * me.size());
  // In place, blocks must leave before others come: they are moved aside first.
  if (call.in_place()) all = me.set_aside(all);
  const auto block = [&](std::size_t rank) {
    return all.subspan(rank * call.bytes(), call.bytes());
  };
  me.arrive();
  co_await exchange_pairwise(me, call, block);
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = (of.nodes - 1) * of.ranks_a_node * of.ranks_a_node;
  return {.messages = messages, .bytes = messages * call.bytes(), .connections = messages};
}

}  // namespace

const algorithm alltoall_pairwise = {
    .id = "pairwise",
    .what = collective::alltoall,
    .summary = "in step s to the rank s further on and from the one s back",
    .source = "Qian 3.4.4",
    .formula = "(n-1)p^2 messages of m bytes, as many connections",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
