// Long allreduce between any ranks, round a ring.
//
//  1  the vector is cut into a slice for every rank; in N-1 steps every slice goes once round the
//     ring, and each rank puts its own part to it
//  2  in N-1 steps the results go round the ring
//
// Every rank sends and receives about twice the vector, to one and from one rank, whatever N. A
// slice is combined in the order in which it passes the ranks, which is always the same one but
// begins elsewhere for each: for reductions that commute.
//
// Source: the ring of Thakur, Rabenseifner, Gropp 2005, as in Patarasuk, Yuan 2009.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/rings/slice_ring.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  co_await reduce_scatter_slices(me, call.contribution(), call.result());
  co_await allgather_slices(me, call.result(), me.rank() + 1);
}

node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes == 1) return {};
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  const auto length = [&](std::size_t number) {
    return slice_of(call.bytes(), number % ranks, ranks, call.grain()).length;
  };
  node_cost result{.messages = 2 * (ranks - 1), .connections = 1};
  for (std::size_t last = of.ranks_a_node - 1; last < ranks; last += of.ranks_a_node) {
    const std::size_t sent = 2 * call.bytes() - length(last + 1) - length(last + 2);
    result.bytes = std::max(result.bytes, sent);
  }
  return result;
}

}  // namespace

const algorithm allreduce_ring = {
    .id = "ring",
    .what = collective::allreduce,
    .summary = "a slice for every rank goes round and grows, then the results go round",
    .source = "Patarasuk, Yuan 2009",
    .formula = "2(N-1) messages of about m/N bytes, 1 connection",
    .costs = costs,
    .suits = any_team_commuting,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
