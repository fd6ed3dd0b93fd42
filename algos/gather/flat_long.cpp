// Long gather in the node's memory.
//
//  1  every rank but the root offers its block where it is, if the root can get at it there;
//     otherwise it copies it, segment by segment, into its stage, as far ahead as the stage allows
//  2  the root copies out whole blocks in the order of their first segment's arrival
//
// Offered: one copy a block, all of them the root's; staged: two, the first of them overlapped. A
// rank that comes late holds up nobody but the root, which by then has done everything else.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4), without its arithmetic.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/gather_blocks.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const auto own = call.own_block(me.rank());
  pipeline blocks(me, 0, segments::followed(call.bytes(), 1), me.shape().index_of(call.root));
  me.arrive();
  if (call.count == 0) co_return;
  if (me.rank() == call.root) {
    co_await me.copy_own(call.received_from(me.rank()), own);
    co_await gather_blocks(blocks, [&](std::size_t from, std::size_t segment) {
      return blocks.copy(from, segment, 0, call.received_from(from));
    });
    co_return;
  }
  blocks.lend(own, pipeline::lending::for_copies);
  for (std::size_t k = 0; k < blocks.cut().count(); ++k) {
    co_await contribute(me, blocks, own, k);
  }
  co_await blocks.returned();
}

}  // namespace

const algorithm gather_flat_long = {
    .id = "flat_long",
    .what = collective::gather,
    .summary =
        "segment by segment through every rank's stage, or straight from its buffer, to the root",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
