// Allgather over nodes, through their leaders, that serves first whoever has arrived first.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all blocks
//  2  the leader sends its node's blocks to the other leaders as they arrive. Long blocks: it has
//     invited all, which is its own notice of arrival, and sends to whomever invites it, in that
//     order. Short ones: it sends first to those whose blocks have come already, then to the rest
//  3  other nodes' blocks it receives in the order in which they come, even before its own node's
//     are complete; of each it notes beside the buffer which node's they are and says so, and all
//     ranks of its node copy them out, whatever else is still to come
//
// A node posts n-1 messages of p blocks over n-1 connections and nothing but them tells of
// arrivals; N blocks of shared memory a node.
//
// Source: Qian 2010 (6.4.5), the process arrival pattern and shared memory aware allgather.

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/pap_shm_allgather.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_gathered_blocks(of, call, of.nodes - 1);
}

}  // namespace

const algorithm allgather_pap_shm_direct = {
    .id = "pap_shm_direct",
    .what = collective::allgather,
    .summary =
        "node buffers, leaders serve and are served in the order of arrival, a notice a node",
    .source = "Qian 6.4.5",
    .formula = "n-1 messages of pm bytes, n-1 connections, npm bytes shared",
    .costs = costs,
    .suits = suits_gathered_blocks,
    .stages = signal_stages,
    .run = pap_shm_allgather,
};

}  // namespace muster::algos
