// Direct allgather between any ranks.
//
//  1  rank r invites all others
//  2  it sends its block to the ranks r+1 … r+N-1, k at a time
//  3  meanwhile it copies its own block and receives those of the ranks r-1 … r-N+1
//
// ⌈(N-1)/k⌉ steps; N-1 messages a rank, each over a connection of its own. For long blocks, and
// those of middling length.
//
// Source: Qian 2010 (3.4.3).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_allgather.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_direct(of, call.bytes());
}

}  // namespace

const algorithm allgather_direct = {
    .id = "direct",
    .what = collective::allgather,
    .summary = "every rank sends its block to every other, k at a time",
    .source = "Qian 3.4.3",
    .formula = "(n-1)p^2 messages of m bytes, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = direct_allgather,
};

}  // namespace muster::algos
