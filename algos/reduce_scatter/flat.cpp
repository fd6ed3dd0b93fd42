// Short reduce-scatter in the node's memory, of blocks of any lengths.
//
//  1  every rank copies its whole contribution beside its arrival
//  2  every rank combines its own block of all contributions, in rank order, or as they come where
//     the order is free, straight into its result
//
// One copy of N blocks and one pass over N blocks a rank: the arithmetic is shared out, no result
// has to be waited for.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2) with every rank the root of a block.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

/// Publishes all blocks of this rank; everybody's block for it. Its own, too, is read from where it
/// was published: in place, the result may lie across it.
published_inputs publish(context& me, const arguments& call) {
  const std::byte* const first = call.sent_to(0).data();
  const std::size_t all = call.contributed_bytes(me.size());
  const auto offset = static_cast<std::size_t>(call.sent_to(me.rank()).data() - first);
  me.publish({first, all});
  return {me, all, offset};
}

task<> run(context& me, const arguments& call) {
  const published_inputs inputs = publish(me, call);
  co_await combine_arrivals(me, inputs, inputs.of(me.node_index()), call.receive, call.count);
}

bool at_once(context& me, const arguments& call) {
  const published_inputs inputs = publish(me, call);
  if (!me.are_all_here()) return false;
  combine_by_rank(me, inputs, inputs.of(me.node_index()), call.receive, call.count);
  return true;
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "flat",
      .what = what,
      .summary = "every rank combines its block of everybody's slot in shared memory",
      .source = "SRM 2.2",
      .needs = "one node, up to 8 KiB a rank",
      .suits = one_node_short,
      .stages = exchanged_stages,
      .run = run,
      .at_once = at_once,
  };
}

}  // namespace

const algorithm reduce_scatter_block_flat = row_of(collective::reduce_scatter_block);
const algorithm reduce_scatter_flat = row_of(collective::reduce_scatter);

}  // namespace muster::algos
