// Direct allgather of blocks of any lengths that serves first whoever has arrived first.
//
//  1  rank r invites those whose blocks go in place
//  2  where its own does: it sends it to the others in the order in which their invitations come, k
//     at a time
//     where it goes in short messages: it sends it to those whose blocks have come already, then to
//     the others, from rank r+1 on, k at a time
//  3  meanwhile it copies its own block and receives the others' in the order in which they come
//
// N-1 messages a rank, an empty one where there is nothing to send, and nothing beside them tells
// of arrivals.
//
// Source: Qian 2010 (6.4.1 and 6.4.3).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_allgather.hpp"

namespace muster::algos {

const algorithm allgatherv_pap_direct = {
    .id = "pap_direct",
    .what = collective::allgatherv,
    .summary = "every rank sends its block to every other, first to those that are there",
    .source = "Qian 6.4.3",
    .formula = "(n-1)p^2 messages, each of its sender's block, as many connections",
    .costs = cost_of_direct_allgatherv,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = pap_direct_allgather,
};

}  // namespace muster::algos
