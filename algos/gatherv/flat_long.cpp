// Gather of blocks of any lengths in the node's memory.
//
//  1  every rank but the root offers its block where it is, if the root can copy it from there;
//     otherwise it stages it, segment by segment; with the first goes a note of its length
//  2  the root copies out whole blocks in the order of their first segment's arrival
//
// Offered: one copy a block, all of them the root's; staged: two, the first of them overlapped. A
// rank that comes late holds up nobody but the root, which by then has done everything else.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4), without its arithmetic.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/call/varying_blocks.hpp"
#include "algos/patterns/node/gather_blocks.hpp"

namespace muster::algos {
namespace {

task<> send(context& me, varying_pipeline& on, source own) {
  const std::span<const source> gives(&own, 1);
  if (!on.lend(gives)) {
    const std::size_t count = most_segments(on, gives);
    for (std::size_t k = 0; k < count; ++k) co_await stage_segment(me, on, gives, k);
  }
  co_await on.returned();
}

task<> receive(context& me, const arguments& call, varying_pipeline& on) {
  pooled<std::size_t> counts(me.size());
  for (std::size_t from = 0; from < me.size(); ++from) {
    counts[from] = on.segments_for(call.received_from(from).size());
  }
  on.will_take(counts);
  co_await me.copy_own(call.received_from(me.rank()), call.own_block(me.rank()));
  co_await gather_blocks(on, [&](std::size_t from, std::size_t segment) {
    return on.copy(from, segment, 0, call.received_from(from));
  });
}

task<> run(context& me, const arguments& call) {
  varying_pipeline blocks(me, 0, 1, segments::far, me.shape().index_of(call.root));
  me.arrive();
  if (me.rank() == call.root) {
    co_await receive(me, call, blocks);
  } else {
    co_await send(me, blocks, call.own_block(me.rank()));
  }
}

}  // namespace

const algorithm gatherv_flat_long = {
    .id = "flat_long",
    .what = collective::gatherv,
    .summary =
        "segment by segment through every rank's stage, or straight from its buffer, to the root",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = unknown_pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
