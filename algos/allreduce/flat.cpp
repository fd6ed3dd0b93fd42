// Short allreduce in the node's memory.
//
//  1  every rank copies its contribution beside its arrival
//  2  every rank waits for all and combines them in rank order
//
// Everybody does the whole sum: N times the arithmetic, but no result has to be waited for.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2) with every rank a root.

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

/// \param bytes of each contribution
[[gnu::always_inline]] inline wire::work_wait combine_all(context& me, const arguments& call,
                                                          std::size_t bytes) {
  const auto input = [&me, bytes](std::size_t i) { return me.published(i, bytes).data(); };
  return combine_each(me, input, call.receive, call.count);
}

task<> run(context& me, const arguments& call) {
  me.publish(call.contribution());
  co_await me.all_here();
  co_await combine_all(me, call, call.bytes());
}

bool at_once(context& me, const arguments& call) {
  const std::span<const std::byte> own = call.contribution();
  me.publish(own);
  if (!me.are_all_here()) return false;
  combine_all(me, call, own.size());
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
