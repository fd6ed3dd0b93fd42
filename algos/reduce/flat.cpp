// Short reduce in the node's memory.
//
//  1  every rank but the root copies its contribution beside its arrival and is done
//  2  the root combines them when all are there, in rank order, writing only the result; where the
//     order is free, whatever has come while it waits for the rest
//
// N-1 copies and one pass over N inputs.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2), its tree flattened to one level.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  if (me.rank() != call.root) {
    me.publish(call.contribution());
    co_return;
  }
  me.arrive();
  const published_inputs inputs{me, call.bytes()};
  const std::byte* const own = call.contribution().data();
  // Most are combined by rank: without another coroutine.
  if (combines_as_they_come(call)) {
    co_await combine_arrivals(me, inputs, own, call.receive, call.count);
  } else {
    co_await me.all_here();
    co_await combine_by_rank(me, inputs, own, call.receive, call.count);
  }
}

bool at_once(context& me, const arguments& call) {
  if (me.rank() != call.root) {
    me.publish(call.contribution());
    return true;
  }
  me.arrive();
  if (!me.are_all_here()) return false;
  combine_by_rank(me, published_inputs{me, call.bytes()}, call.contribution().data(), call.receive,
                  call.count);
  return true;
}

}  // namespace

const algorithm reduce_flat = {
    .id = "flat",
    .what = collective::reduce,
    .summary = "the root combines what all others left in shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = one_way_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
