// Direct alltoall that serves first whoever has arrived first.
//
//  1  rank r invites all others, by which they hear, where their blocks go in place, that it is
//     there
//  2  blocks that do not go in place it sends to those whose own have come already, then to the
//     others, from rank r+1 on, k at a time; those that go in place it sends as soon as, and so in
//     the order in which, invitations come
//  3  meanwhile it copies its own block and receives the others' in the order in which they come
//
// N-1 messages a rank, as in the direct algorithm, and nothing beside them tells of arrivals: that
// does the address or the block itself. Nobody waits for a late rank while there is another to be
// served.
//
// Source: Qian 2010 (6.4.1 and 6.4.2).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/direct_alltoall.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_direct(of, call.bytes());
}

}  // namespace

const algorithm alltoall_pap_direct = {
    .id = "pap_direct",
    .what = collective::alltoall,
    .summary = "every rank sends every other its block, first to those that are there",
    .source = "Qian 6.4.2",
    .formula = "(n-1)p^2 messages of m bytes, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = pap_direct_alltoall,
};

}  // namespace muster::algos
