// Alltoall over nodes, through a leader each, with one message to each other node: OHIO's second
// design.
//
//  1  every rank copies its blocks into the node's shared send buffer, rearranged so that what goes
//     to a node is one piece
//  2  the leader exchanges pieces with the other nodes', pairwise, by XOR where the nodes are a
//     power of two and by shifts where not, each into a place of its own in the shared receive
//     buffer
//  3  meanwhile all ranks copy out what came in the step before; in the first step their own node's
//     blocks, straight out of the send buffer
//
// A node posts n-1 messages of p^2 blocks over n-1 connections. Of shared memory it takes
// (2n-1)mp^2 bytes: the paper's 2mnp^2 without the place to receive one's own node's blocks, which
// nobody needs. With g groups, g leaders share the steps.
//
// Source: Tran et al., OHIO (III.B).

#include "algos/algorithms.hpp"
#include "algos/patterns/node/ohio.hpp"

namespace muster::algos {
namespace {

struct rearranged : ohio_frame {
  using ohio_frame::ohio_frame;

  std::size_t bytes() const { return bytes_both_ways(); }

  task<> stage() { return give_all(); }
  task<> copy_out(std::size_t step) { return take(from(step), piece_from(from(step))); }
  task<> invite(std::size_t step) { return me.invite(peer_in(from(step)), piece_from(from(step))); }
  task<> exchange(std::size_t step) {
    auto outgoing = me.send(peer_in(to(step)), piece_to(to(step)));
    auto incoming = me.receive(peer_in(from(step)), piece_from(from(step)));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
};

}  // namespace

const algorithm alltoall_ohio_v2 = {
    .id = "ohio_v2",
    .what = collective::alltoall,
    .summary = "leaders exchange pieces rearranged while they are staged, one message to each node",
    .source = "Tran, OHIO III.B",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = cost_of_pieces_both_ways,
    .has_groups = true,
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run_ohio<rearranged>,
};

}  // namespace muster::algos
