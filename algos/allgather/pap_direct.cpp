// Direct allgather that serves first whoever has arrived first.
//
//  1  rank r invites all others, by which they hear, where blocks go in place, that it is there
//  2  in place: it sends its block to the others as soon as, and so in the order in which, their
//     invitations come
//     in short messages: it sends it to those whose blocks have come already, then to the others,
//     from rank r+1 on, k at a time
//  3  meanwhile it copies its own block and receives the others' in the order in which they come
//
// N-1 messages a rank, as in the direct algorithm, and nothing beside them tells of arrivals: that
// does the address or the block itself. Nobody waits for a late rank while there is another to be
// served.
//
// Source: Qian 2010 (6.4.1 and 6.4.3).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_allgather.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_direct(of, call.bytes());
}

}  // namespace

const algorithm allgather_pap_direct = {
    .id = "pap_direct",
    .what = collective::allgather,
    .summary = "every rank sends its block to every other, first to those that are there",
    .source = "Qian 6.4.3",
    .formula = "(n-1)p^2 messages of m bytes, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = pap_direct_allgather,
};

}  // namespace muster::algos
