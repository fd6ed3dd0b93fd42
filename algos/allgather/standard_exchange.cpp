// Allgather by exchange among k+1 ranks at a time, with k ports.
//
//  1  where N is no power of k+1, ranks that follow each other make groups, as many as the highest
//     power below N; every rank gives its block to the first one of its group, which speaks for it
//  2  with the blocks of h groups, h = 1, k+1, (k+1)^2 …: speakers whose group numbers differ in
//     one digit, to base k+1, exchange them, k at once
//  3  where N is no power, speakers send all blocks to the others of their groups
//
// log N steps, to base k+1, where N is a power; otherwise ⌊log N⌋ + 2. A group has at most k+1
// ranks, so that what its others send, or receive, goes in one step, too. Blocks need no shift.
//
// Source: Qian 2010 (3.4.3); its correction steps are those of Thakur, Rabenseifner, Gropp 2005 for
// recursive doubling, which this is with one port.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/exchange_allgather.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  return exchange_allgather(me, call, ports_of(me));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_exchange(of, ports_of(call), call.bytes());
}

}  // namespace

const algorithm allgather_standard_exchange = {
    .id = "standard_exchange",
    .what = collective::allgather,
    .summary = "all that came so far among k+1 ranks, one digit of their numbers after the other",
    .source = "Qian 3.4.3",
    .formula =
        "np a power of k+1: k log_{k+1}(np) messages a rank, of (np-1)m bytes together, less "
        "those inside nodes",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
