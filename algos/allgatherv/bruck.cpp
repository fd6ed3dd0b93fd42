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
#include "algos/patterns/bruck_allgather.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {

const algorithm allgatherv_bruck = {
    .id = "bruck",
    .what = collective::allgatherv,
    .summary = "all that came so far to k ranks at growing distances, then a shift",
    .source = "Qian 3.4.3",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = bruck_allgather,
};

}  // namespace muster::algos
