// Alltoall over nodes as a gather, an alltoall of the leaders and a scatter, which reorder blocks
// as they move them.
//
//  1  gather: every rank copies its blocks into the leader's buffer, each at once to where the
//     alltoall and the scatter want it: the pieces for the nodes one after the other, and in each
//     piece all blocks for its first rank, then all for its second …
//  2  alltoall: the leaders exchange pieces, pairwise
//  3  scatter: every rank copies its part of each piece straight to its place
//
// A node posts n-1 messages of p^2 blocks over n-1 connections. No block is moved just to change
// the order, where the leader's ranks would otherwise shuffle blocks between the phases: what
// derived datatypes do for the gather and the scatter is here the writers' strided copying. Nothing
// is overlapped. 2n-1 pieces of p^2 blocks of shared memory a node.
//
// Source: Traeff, Rougier 2014, hierarchical all-to-all from MPI's own collectives and datatypes.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/node_alltoall.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call, node_matrix::order::by_destination);
  co_await with_node_buffer(in, in.bytes_both_ways(), 0, alltoall_of_leaders);
}

}  // namespace

const algorithm alltoall_node_aware = {
    .id = "node_aware",
    .what = collective::alltoall,
    .summary = "node gather, leaders' alltoall, node scatter; blocks are put in order on the way",
    .source = "Traeff, Rougier 2014",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = cost_of_pieces_both_ways,
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
