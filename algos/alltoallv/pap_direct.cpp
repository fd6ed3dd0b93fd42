// Direct alltoall of blocks of any lengths that serves first whoever has arrived first.
//
//  1  rank r invites all others whose blocks go in place, by which they hear that it is there
//  2  blocks that do not go in place it sends to those whose own have come already, then to the
//     others, from rank r+1 on; those that go in place it sends in the order in which invitations
//     come; k at a time
//  3  meanwhile it copies its own block and receives the others' in the order in which they come
//
// N-1 messages a rank, an empty one where there is nothing to send; it tells of its arrival. Some
// ranks are heard of by their messages and some by their invitations, as the length of each block
// has it, which both its ends know.
//
// Source: Qian 2010 (6.4.1 and 6.4.2).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_alltoall.hpp"

namespace muster::algos {

const algorithm alltoallv_pap_direct = {
    .id = "pap_direct",
    .what = collective::alltoallv,
    .summary = "every rank sends every other its block, first to those that are there",
    .source = "Qian 6.4.2",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = pap_direct_alltoall,
};

}  // namespace muster::algos
