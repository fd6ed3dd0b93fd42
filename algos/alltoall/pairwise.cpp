// Pairwise alltoall between any ranks.
//
//  for s = 1 … N-1: send block r+s to rank r+s and receive block r-s from rank r-s, at once
//
// N-1 steps of one message each way; in each step every rank sends to one and receives from one.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one port; shifts take the place of XOR so
// that N need not be a power of two.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/pairwise_alltoall.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_direct(of, call.bytes());
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
    .run = pairwise_alltoall,
};

}  // namespace muster::algos
