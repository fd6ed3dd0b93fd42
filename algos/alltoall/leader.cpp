// Alltoall over nodes, through their leaders, one phase after the other.
//
//  1  every rank gives the leader all its blocks: it copies them into the node's shared buffer,
//     where those for one node lie in one piece
//  2  the leaders exchange pieces, pairwise
//  3  when all have come, the leader hands them out: every rank copies its own, those of each
//     source rank from where that put them
//
// A node posts n-1 messages of p^2 blocks over n-1 connections. Only its leader uses the network,
// and meanwhile the others wait. 2n-1 pieces of p^2 blocks of shared memory a node: what stays on
// the node lies there once.
//
// Source: the leader-based scheme with which Kumar, Mamidala, Panda 2008 compare theirs.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/node_alltoall.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call, node_matrix::order::by_source);
  co_await with_node_buffer(in, in.bytes_both_ways(), 0, alltoall_of_leaders);
}

}  // namespace

const algorithm alltoall_leader = {
    .id = "leader",
    .what = collective::alltoall,
    .summary = "all to the leader, leaders exchange, the leader hands out",
    .source = "Kumar, Mamidala, Panda 2008",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = cost_of_pieces_both_ways,
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
