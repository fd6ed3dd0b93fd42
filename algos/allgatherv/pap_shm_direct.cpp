// Allgather of blocks of any lengths over nodes, through their leaders, that serves first whoever
// has arrived first.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all
//     blocks, each as long as it is
//  2  the leader sends its node's blocks to the other leaders. Where they are long together: in the
//     order in which those invite it. Where short: first to those whose blocks have come already,
//     then to the rest
//  3  other nodes' blocks it receives in the order in which they come; of each it notes beside the
//     buffer which node's they are and says so, and all ranks of its node copy them out
//
// How a node's blocks go depends on them alone, so that some leaders are heard of by invitations
// and some by messages. A node posts n-1 messages over n-1 connections, an empty one where its
// ranks have nothing, and nothing but them tells of arrivals; the shared memory holds all blocks
// once.
//
// Source: Qian 2010 (6.4.5), with lengths that all ranks know.

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/pap_shm_allgather.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_gathered_blocks(of, call, of.nodes - 1);
}

}  // namespace

const algorithm allgatherv_pap_shm_direct = {
    .id = "pap_shm_direct",
    .what = collective::allgatherv,
    .summary =
        "node buffers, leaders serve and are served in the order of arrival, a notice a node",
    .source = "Qian 6.4.5",
    .formula = "n-1 messages, each of its node's blocks, n-1 connections, all blocks shared once",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = pap_shm_allgather,
};

}  // namespace muster::algos
