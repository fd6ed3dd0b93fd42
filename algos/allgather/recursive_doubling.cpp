// Allgather by exchange with the rank twice as far away in every step.
//
//  1  where N is no power of two, as many pairs of ranks that follow each other as are too many:
//  the second one of a
//     pair gives its block to the first, which acts for both
//  2  in step s: exchange all that came so far with the one 2^s apart
//  3  the first of a pair sends all blocks to the second
//
// log2 N steps where N is a power of two; otherwise ⌊log2 N⌋ + 2.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.1). It is standard exchange with one port.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/exchange_allgather.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) { return exchange_allgather(me, call, 1); }

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_exchange(of, 1, call.bytes());
}

}  // namespace

const algorithm allgather_recursive_doubling = {
    .id = "recursive_doubling",
    .what = collective::allgather,
    .summary = "all that came so far with the rank at twice the distance in every step",
    .source = "Thakur et al. 2005",
    .formula =
        "n, p powers of 2: p log2(n) messages of (n-1)p^2 m bytes together, as many connections",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
