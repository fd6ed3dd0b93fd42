// Short allreduce in the node's memory.
//
//  1  every rank copies its contribution beside its arrival
//  2  every rank waits for all and combines them in rank order
//
// Everybody does the whole sum: N times the arithmetic, but no result has to be waited for.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2) with every rank a root.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

wire::work_wait combine_all(context& me, const arguments& call) {
  const published_inputs inputs{me, call.bytes()};
  return combine_by_rank(me, inputs, inputs.of(me.node_index()), call.receive, call.count);
}

task<> run(context& me, const arguments& call) {
  me.publish(call.contribution());
  co_await me.all_here();
  co_await combine_all(me, call);
}

bool at_once(context& me, const arguments& call) {
  me.publish(call.contribution());
  if (!me.are_all_here()) return false;
  combine_all(me, call);
  return true;
}

}  // namespace

const algorithm allreduce_flat = {
    .id = "flat",
    .what = collective::allreduce,
    .summary = "every rank combines everybody's contribution",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = exchanged_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
