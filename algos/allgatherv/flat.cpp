// Short allgather of blocks of known lengths in the node's memory.
//
//  1  every rank copies its block beside its arrival
//  2  every rank copies the others' blocks out in the order of their arrival
//
// One copy in and N copies out a rank. The longest block decides, which all ranks know.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/publish_blocks.hpp"

namespace muster::algos {
namespace {

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && longest_block(*call.receive_blocks, call) <= wire::short_stage_bytes;
}

stage_kind stages(const shape&, const machine&, const arguments& call) {
  return longest_block(*call.receive_blocks, call) <= wire::inline_bytes ? stage_kind::none
                                                                         : stage_kind::exchanged;
}

}  // namespace

const algorithm allgatherv_flat = {
    .id = "flat",
    .what = collective::allgatherv,
    .summary = "every rank copies everybody's block from shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = suits,
    .stages = stages,
    .run = publish_blocks,
    .at_once = publish_blocks_at_once,
};

}  // namespace muster::algos
