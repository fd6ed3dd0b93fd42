// Direct alltoall between any ranks, also called scatter-destination.
//
//  1  rank r invites all others
//  2  it sends their blocks to the ranks r+1 … r+N-1, k at a time
//  3  meanwhile it copies its own block and receives those of the ranks r-1 … r-N+1, k at a time
//
// ⌈(N-1)/k⌉ steps; N-1 messages a rank, each over a connection of its own. For long blocks.
//
// Source: Qian 2010 (3.4.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_alltoall.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_direct(of, call.bytes());
}

}  // namespace

const algorithm alltoall_direct = {
    .id = "direct",
    .what = collective::alltoall,
    .summary = "every rank sends every other its block, k at a time",
    .source = "Qian 3.4.4",
    .formula = "(n-1)p^2 messages of m bytes, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = direct_alltoall,
};

}  // namespace muster::algos
