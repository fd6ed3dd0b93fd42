// Pairwise alltoall of blocks of any lengths between any ranks.
//
//  for s = 1 … N-1: send to rank r+s its block and receive that of rank r-s, at once
//
// N-1 steps of one message each way, an empty one where there is nothing to send.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one port; shifts take the place of XOR so
// that N need not be a power of two.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/pairwise_alltoall.hpp"

namespace muster::algos {

const algorithm alltoallv_pairwise = {
    .id = "pairwise",
    .what = collective::alltoallv,
    .summary = "in step s to the rank s further on and from the one s back",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = pairwise_alltoall,
};

}  // namespace muster::algos
