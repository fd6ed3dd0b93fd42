// Bruck's allgather of blocks of any lengths between any ranks, with k ports.
//
//  1  rank r copies its block to the top of its working memory, in which that of rank r+i is to
//     come to the i-th place
//  2  with h blocks at the top, h = 1, k+1, (k+1)^2 …: send them to the ranks r-h, r-2h … r-kh and
//     receive theirs from the ranks r+h, r+2h … r+kh, all at once; of the last ones only what is
//     missing
//  3  shift the blocks to where they belong
//
// ⌈log N⌉ steps, to base k+1, whatever N. For short blocks.
//
// Source: Bruck et al. 1997, as in Qian 2010 (3.4.3); with lengths that all ranks know.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/bruck_allgather.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t all = of.nodes * of.ranks_a_node;
  const std::size_t ports = ports_of(call);
  message_tally messages(of);
  const auto send_back = [&](std::size_t rank, const bruck_exchange& what) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < what.blocks; ++i) bytes += block_from((rank + i) % all, call);
    messages.send(rank, (rank + all - what.distance) % all, bytes);
  };
  for (std::size_t held = 1; held < all; held *= ports + 1) {
    for (const bruck_exchange& each : bruck_step(held, all, ports)) {
      for (std::size_t rank = 0; rank < all; ++rank) send_back(rank, each);
    }
  }
  return messages.most();
}

}  // namespace

const algorithm allgatherv_bruck = {
    .id = "bruck",
    .what = collective::allgatherv,
    .summary = "all that came so far to k ranks at growing distances, then a shift",
    .source = "Qian 3.4.3",
    .formula = "messages and connections as allgather's, of blocks as long as they are",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = bruck_allgather,
};

}  // namespace muster::algos
