// Scatter of blocks of any lengths in the node's memory.
//
//  1  the root offers its blocks where they are, if the others can copy them from there; otherwise
//     it stages them, segment by segment, one piece of every block but its own; with the first go
//     notes of all lengths
//  2  every other rank copies its pieces out as soon as they are there, and is done after its last
//
// Offered: one copy a block; staged: two, overlapped. Nobody but the root knows how many segments
// there are; each knows how many it needs.
//
// Source: the broadcast of Tipparaju, Nieplocha, Panda 2003 (2.2, figure 3), of which each rank
// reads a part.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/call/varying_blocks.hpp"

namespace muster::algos {
namespace {

task<> send(context& me, const arguments& call, varying_pipeline& on) {
  pooled<source> gives(me.size());
  for (std::size_t to = 0; to < me.size(); ++to) {
    gives[to] = to == me.rank() ? source() : call.sent_to(to);
  }
  if (!on.lend(gives)) {
    const std::size_t count = most_segments(on, gives);
    for (std::size_t k = 0; k < count; ++k) co_await stage_segment(me, on, gives, k);
  }
  if (!call.in_place()) co_await me.copy_own(call.result(), call.sent_to(me.rank()));
  co_await on.returned();
}

task<> receive(context& me, const arguments& call, varying_pipeline& on) {
  const std::size_t root = me.shape().index_of(call.root);
  co_await on.arrived(root, 0);
  co_await on.copy(root, 0, me.rank(), call.result());
  const std::size_t count = on.lends(root) ? 1 : on.segments_for(call.bytes());
  for (std::size_t k = 1; k < count; ++k) {
    on.take(k - 1);
    co_await on.arrived(root, k);
    co_await on.copy(root, k, me.rank(), call.result());
  }
  on.take_all();
}

task<> run(context& me, const arguments& call) {
  varying_pipeline blocks(me, 0, me.size(), segments::far);
  me.arrive();
  if (me.size() == 1) {
    if (!call.in_place()) co_await me.copy_own(call.result(), call.sent_to(0));
  } else if (me.rank() == call.root) {
    co_await send(me, call, blocks);
  } else {
    co_await receive(me, call, blocks);
  }
}

}  // namespace

const algorithm scatterv_flat_long = {
    .id = "flat_long",
    .what = collective::scatterv,
    .summary = "pieces of all blocks through the root's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = unknown_pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
