// Alltoall over nodes, of whose blocks each node's ranks send and receive a share.
//
// What goes from one node to another is a block of the matrix of all ranks by all ranks: p^2 of the
// caller's blocks.
//
//  1  every rank copies its part of each block into the node's shared buffer, in the order of the
//     destinations, so that together the ranks assemble and transpose the blocks
//  2  each block is sent by one rank of its node and received by one of the other's: with node q
//     rank number q mod p deals, in both directions
//  3  when all have come, every rank copies its part of each straight to its place
//
// A node posts n-1 messages of p^2 blocks over n-1 connections, which all its ranks share instead
// of its leader's having them all. Nothing is overlapped with the network. 2n-1 pieces of p^2
// blocks of shared memory a node.
//
// Source: Chochia, Solt, Hursey 2022, matrix block aggregation.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/node/node_alltoall.hpp"

namespace muster::algos {
namespace {

/// The rank of node `of` that deals with a node.
std::size_t dealer(const shape& ranks, std::size_t of, std::size_t with) {
  const auto all = ranks.ranks_of(of);
  return all[with % all.size()];
}

bool deals_with(const node_alltoall& in, std::size_t node) {
  return dealer(in.me.shape(), in.here(), node) == in.me.rank();
}

task<> send_share(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    if (!deals_with(in, to)) continue;
    co_await in.me.send(dealer(in.me.shape(), to, in.here()), in.piece_to(to));
  }
}

task<> invite_share(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    if (!deals_with(in, from)) continue;
    co_await in.me.invite(dealer(in.me.shape(), from, in.here()), in.piece_from(from));
  }
}

task<> receive_share(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    if (!deals_with(in, from)) continue;
    co_await in.me.receive(dealer(in.me.shape(), from, in.here()), in.piece_from(from));
  }
}

task<> take_part(node_alltoall& in) {
  co_await in.give_all();
  in.filled.post(0);
  co_await invite_share(in);
  co_await in.filled.all_here(0);
  auto outgoing = send_share(in);
  auto incoming = receive_share(in);
  co_await when_all(std::move(outgoing), std::move(incoming));
  in.received.post(0);
  co_await in.received.all_here(0);
  co_await in.take_all();
  in.received.take(0);
}

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call, node_matrix::order::by_destination);
  co_await with_node_buffer(in, in.bytes_both_ways(), 0, take_part);
}

}  // namespace

const algorithm alltoall_block_aggregation = {
    .id = "block_aggregation",
    .what = collective::alltoall,
    .summary = "blocks of node by node assembled in shared memory, each sent by one of its ranks",
    .source = "Chochia, Solt, Hursey 2022",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = cost_of_pieces_both_ways,
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
