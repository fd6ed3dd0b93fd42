// Direct alltoall of blocks of any lengths between any ranks.
//
//  1  rank r invites all others whose blocks go in place: both ends of a block know its length
//  2  it sends their blocks to the ranks r+1 … r+N-1, k at a time
//  3  meanwhile it copies its own block and receives those of the ranks r-1 … r-N+1, k at a time
//
// ⌈(N-1)/k⌉ steps; N-1 messages a rank, an empty one where there is nothing to send.
//
// Source: Qian 2010 (3.4.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_alltoall.hpp"

namespace muster::algos {

const algorithm alltoallv_direct = {
    .id = "direct",
    .what = collective::alltoallv,
    .summary = "every rank sends every other its block, k at a time",
    .source = "Qian 3.4.4",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = direct_alltoall,
};

}  // namespace muster::algos
