// Flat barrier in the node's memory.
//
//  1  announce the arrival in a cache line of one's own
//  2  wait until every local peer has announced his
//
// One line is written and N-1 are read by each rank; nobody collects and nobody releases, so a rank
// that runs last passes without waiting. Sequence numbers take the place of flags to reset.
//
// Source: the flat tree of Tipparaju, Nieplocha, Panda 2003 (2.2), without its master.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments&) {
  me.arrive();
  co_await me.all_here();
}

bool at_once(context& me, const arguments&) {
  me.arrive();
  return me.are_all_here();
}

}  // namespace

const algorithm barrier_flat = {
    .id = "flat",
    .what = collective::barrier,
    .summary = "every rank sees every other's arrival in shared memory",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = exchanged_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
