// Alltoall over nodes in which every core has its peers.
//
//  1  inside the node: every rank copies its blocks into the node's shared buffer, so that rank
//     number i finds there all that its node has for the ranks of number i elsewhere, row by row
//  2  between nodes: every rank exchanges rows with its peer on each other node, pairwise; what
//     comes is for itself alone and goes straight to its place
//
// A node posts (n-1)p messages of p blocks over as many connections, n-1 by each rank: as many as a
// leader would post for all, but p at a time. n pieces of p^2 blocks of shared memory a node.
//
// Where nodes are uneven, rank number i of a node of p ranks sends to those of numbers i, i+p, i+2p
// … of each other node, and rank number i receives from number i mod q of a node of q ranks.
//
// Source: Kumar, Mamidala, Panda 2008.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/peer_rows.hpp"

namespace muster::algos {
namespace {

task<> send_rows(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    co_await send_to_peers(in, to, in.piece_to(to));
  }
}

task<> take_part(node_alltoall& in) {
  co_await in.give_all();
  in.filled.post(0);
  node_messages rows(in.me, in.call);
  co_await invite_peers(in, rows);
  co_await in.filled.all_here(0);
  co_await in.take(in.here(), in.piece_to(in.here()));
  auto outgoing = send_rows(in);
  auto incoming = receive_from_peers(in, rows);
  co_await when_all(std::move(outgoing), std::move(incoming));
  in.received.take(0);
}

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call, node_matrix::order::by_destination);
  co_await with_node_buffer(in, in.blocks.bytes(), 0, take_part);
}

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  return fits_into_node_buffer(seen, most_bytes_of_pieces(ranks, call));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = (of.nodes - 1) * of.ranks_a_node;
  return {.messages = messages,
          .bytes = messages * of.ranks_a_node * call.bytes(),
          .connections = messages,
          .memory = of.nodes * of.ranks_a_node * of.ranks_a_node * call.bytes()};
}

}  // namespace

const algorithm alltoall_multicore_groups = {
    .id = "multicore_groups",
    .what = collective::alltoall,
    .summary = "exchange inside each node, then every core with its peer of each other node",
    .source = "Kumar, Mamidala, Panda 2008",
    .formula = "(n-1)p messages of pm bytes, (n-1)p connections, np^2m bytes shared",
    .costs = costs,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
