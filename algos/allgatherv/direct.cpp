// Direct allgather of blocks of any lengths between any ranks.
//
//  1  rank r invites all others
//  2  it sends its block to the ranks r+1 … r+N-1, k at a time
//  3  meanwhile it copies its own block and receives those of the ranks r-1 … r-N+1
//
// ⌈(N-1)/k⌉ steps; N-1 messages a rank, an empty one where there is nothing to send.
//
// Source: Qian 2010 (3.4.3).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_allgather.hpp"

namespace muster::algos {

const algorithm allgatherv_direct = {
    .id = "direct",
    .what = collective::allgatherv,
    .summary = "every rank sends its block to every other, k at a time",
    .source = "Qian 3.4.3",
    .formula = "(n-1)p^2 messages, each of its sender's block, as many connections",
    .costs = cost_of_direct_allgatherv,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = direct_allgather,
};

}  // namespace muster::algos
