// Bruck's allgather between any ranks, with k ports.
//
//  1  rank r copies its block to the top of its working memory, in which that of rank r+i is to
//     come to the i-th place
//  2  with h blocks at the top, h = 1, k+1, (k+1)^2 …: send them to the ranks r-h, r-2h … r-kh and
//     receive theirs from the ranks r+h, r+2h … r+kh, all at once; of the last ones only what is
//     missing
//  3  shift the blocks to where they belong
//
// ⌈log N⌉ steps, to base k+1, whatever N; (N-1)m bytes sent a rank, and every block copied once
// more. For short blocks.
//
// Source: Bruck et al. 1997, as in Qian 2010 (3.4.3).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/bruck_allgather.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  node_cost result;
  const std::size_t all = of.nodes * of.ranks_a_node;
  const std::size_t ports = ports_of(call);
  for (std::size_t held = 1; held < all; held *= ports + 1) {
    for (const bruck_exchange& each : bruck_step(held, all, ports)) {
      const std::size_t messages = leaving_node(of, each.distance);
      result.messages += messages;
      result.bytes += messages * each.blocks * call.bytes();
      result.connections += messages;
    }
  }
  return result;
}

}  // namespace

const algorithm allgather_bruck = {
    .id = "bruck",
    .what = collective::allgather,
    .summary = "all that came so far to k ranks at growing distances, then a shift",
    .source = "Qian 3.4.3",
    .formula =
        "for each distance d = j(k+1)^i, 1<=j<=k, below np: min(p,d)-max(0,p-(np-d)) messages "
        "of min((k+1)^i, np-d) blocks, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = bruck_allgather,
};

}  // namespace muster::algos
