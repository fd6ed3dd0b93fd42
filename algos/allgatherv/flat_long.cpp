// Long allgather of blocks of any lengths in the node's memory.
//
//  1  every rank offers its block where it is, if the others can copy it from there; otherwise it
//     copies it, segment by segment, into its stage, as many segments as it needs
//  2  every rank copies the others' segments out in the order of their arrival
//
// Offered: N copies a rank; staged: N+1. Whoever has no segments left goes on taking the others'.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/call/varying_blocks.hpp"

namespace muster::algos {
namespace {

stage_kind stages(const shape&, const machine&, const arguments& call) {
  return stages_of_pipeline(longest_block(*call.receive_blocks, call));
}

task<> run(context& me, const arguments& call) {
  const source own = call.own_block(me.rank());
  varying_pipeline blocks(me, 0, 1);
  me.arrive();
  pooled<target> takes(me.size());
  for (std::size_t from = 0; from < me.size(); ++from) takes[from] = call.received_from(from);
  co_await exchange_blocks(me, blocks, {&own, 1}, takes, 0);
  co_await me.copy_own(call.received_from(me.rank()), own);
}

}  // namespace

const algorithm allgatherv_flat_long = {
    .id = "flat_long",
    .what = collective::allgatherv,
    .summary = "segment by segment through every rank's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = stages,
    .run = run,
};

}  // namespace muster::algos
