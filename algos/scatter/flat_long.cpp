// Long scatter in the node's memory.
//
//  1  the root offers its buffer where it is, if the others can get at it there; otherwise it
//     copies, segment by segment, one piece of every block but its own into its stage, as far ahead
//     as the stage allows
//  2  every other rank copies its pieces out as soon as they are there
//
// Offered: one copy a block; staged: two, the second overlapped with the first of the next segment.
//
// Source: the broadcast of Tipparaju, Nieplocha, Panda 2003 (2.2, figure 3), of which each rank
// reads a part.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/receive_segments.hpp"
#include "algos/patterns/node/stage_blocks.hpp"

namespace muster::algos {
namespace {

task<> send(context& me, const arguments& call, pipeline& blocks) {
  const std::span all(call.sent_to(0).data(), me.size() * call.bytes());
  if (!blocks.lend(all, pipeline::lending::for_copies)) {
    const auto block = [&call](std::size_t to) { return call.sent_to(to); };
    co_await stage_blocks(me, blocks, block);
  }
  if (!call.in_place()) co_await me.copy_own(call.result(), call.sent_to(me.rank()));
  co_await blocks.returned();
}

task<> run(context& me, const arguments& call) {
  pipeline blocks(me, 0, segments::followed(call.bytes(), me.size()));
  me.arrive();
  if (call.count == 0) co_return;
  if (me.rank() == call.root) {
    co_await send(me, call, blocks);
  } else {
    co_await receive_segments(blocks, me.shape().index_of(call.root), me.rank(), call.result());
  }
}

}  // namespace

const algorithm scatter_flat_long = {
    .id = "flat_long",
    .what = collective::scatter,
    .summary = "pieces of all blocks through the root's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
