// Short allgather in the node's memory.
//
//  1  every rank copies its block beside its arrival
//  2  every rank copies the others' blocks out in the order of their arrival
//
// One copy in and N copies out a rank.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/publish_blocks.hpp"

namespace muster::algos {

const algorithm allgather_flat = {
    .id = "flat",
    .what = collective::allgather,
    .summary = "every rank copies everybody's block from shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = exchanged_stages,
    .run = publish_blocks,
    .at_once = publish_blocks_at_once,
};

}  // namespace muster::algos
