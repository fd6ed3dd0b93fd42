// Long reduce in the node's memory where ranks share cores, or are two.
//
//  1  every rank but the root offers its contribution in place, or stages it segment by segment, as
//  far
//     ahead as the root lets it, and is done
//  2  the root combines each segment of all contributions, in rank order, or as they come where the
//     order is free, straight into its result
//
// N-1 copies and one pass over N inputs. One rank does all the arithmetic, but nobody waits for
// anybody except the root: where ranks take turns on a core, or only one could take a share, that
// saves more than sharing the arithmetic would.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4), its tree flattened to one level.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> offer(context& me, const arguments& call, pipeline& in, std::size_t root) {
  in.lend(call.contribution(), pipeline::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    co_await contribute(me, in, call.contribution(), k, root);
  }
  co_await in.returned(root);
}

task<> combine_all(context& me, const arguments& call, pipeline& in) {
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    const std::size_t offset = in.cut().offset(k);
    co_await combine_arrivals(me, segment_inputs{in, k}, call.contribution().data() + offset,
                              call.receive + offset, in.cut().length(k) / call.element());
    in.take(k);
  }
}

task<> run(context& me, const arguments& call) {
  pipeline in(me, 0, segments(call.bytes(), 1, segments::in_step, call.grain()));
  me.arrive();
  if (me.rank() == call.root) {
    co_await combine_all(me, call, in);
  } else {
    co_await offer(me, call, in, me.shape().index_of(call.root));
  }
}

bool little_to_share(const shape& ranks, const machine& measured, const arguments& call) {
  return one_node_elements_fit(ranks, measured, call) &&
         (ranks.size() <= 2 || ranks.size() > measured.processors);
}

}  // namespace

const algorithm reduce_root_combines = {
    .id = "root_combines",
    .what = collective::reduce,
    .summary = "the root combines what the others stage, who wait for it alone",
    .source = "SRM 2.4",
    .needs = "one node, little to combine",
    .suits = little_to_share,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
