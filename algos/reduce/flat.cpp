// Short reduce in the node's memory.
//
//  1  every rank but the root copies its contribution beside its arrival and is done
//  2  the root waits for all, then combines them in rank order, writing only the result
//
// N-1 copies and one pass over N inputs.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2), its tree flattened to one level.

#include "algos/algorithms.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  if (me.rank() != call.root) {
    me.publish(call.contribution());
    co_return;
  }
  me.arrive();
  co_await me.all_here();
  pooled<const std::byte*> inputs(me.size());
  for (std::size_t i = 0; i < me.size(); ++i) {
    const auto input = i == me.rank() ? call.contribution() : me.published(i, call.bytes());
    inputs[i] = input.data();
  }
  co_await me.combine(call.receive, inputs, call.count);
}

}  // namespace

const algorithm reduce_flat = {
    .id = "flat",
    .what = collective::reduce,
    .summary = "the root combines what all others left in shared memory",
    .source = "SRM 2.2",
    .suits = one_node_short,
    .stages = one_way_stages,
    .run = run,
};

}  // namespace muster::algos
