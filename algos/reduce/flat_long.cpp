// Long reduce in the node's memory, segment by segment.
//
//  1  every rank offers its contribution in place, or copies the segment into its stage, but for
//     the slice that it combines itself
//  2  every rank combines its own slice of the segment from all contributions, in rank
//     order, or as they come where the order is free
//  3  the root collects the slices in the order in which they are ready
//
// All ranks share the arithmetic: each reads N slices of 1/N and writes one; the root copies N.
//
// Source: the pipelined reduce of Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4); slices instead of a
// tree, so that no rank's combining waits for another's.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const std::size_t root = me.shape().index_of(call.root);
  const segments cut(call.bytes(), 1, segments::in_step, call.grain());
  pipeline in(me, 0, cut);
  pipeline out(me, 1, cut);
  me.arrive();
  in.lend(call.contribution(), pipeline::lending::for_loads);
  for (std::size_t k = 0; k < cut.count(); ++k) {
    co_await contribute_slices(me, in, call.contribution(), k);
    co_await reduce_slice(me, in, out, call.contribution(), k, root);
    if (me.node_index() == root) co_await collect_slices(me, out, k, call.result());
  }
  co_await in.returned();
}

}  // namespace

const algorithm reduce_flat_long = {
    .id = "flat_long",
    .what = collective::reduce,
    .summary = "every rank combines a slice, the root collects them",
    .source = "SRM 2.4",
    .needs = "one node",
    .suits = one_node_elements_fit,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
