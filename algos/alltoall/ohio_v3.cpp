// Alltoall over nodes, through a leader each, with two places to receive into: OHIO's third design.
//
//  1  every rank copies its blocks into the node's shared send buffer, rearranged so that what goes
//     to a node is one piece
//  2  the leader exchanges pieces with the other nodes', pairwise, by XOR where the nodes are a
//     power of two and by shifts where not: in step s into place s mod 2 of the shared receive
//     buffer
//  3  meanwhile all ranks copy out of the other place what came in the step before; in the first
//     step their own node's blocks, straight out of the send buffer
//
// A place may be received into again only when all ranks have copied out of it. The paper's
// pseudocode has a barrier after the loop alone, which does not see to that. A barrier a step
// would, but is more than is needed: here each rank says how many steps it has taken, and the
// leader waits for the one two steps before.
//
// A node posts n-1 messages of p^2 blocks over n-1 connections. Of shared memory it takes n pieces
// to send and two to receive, (mn + 2m)p^2 bytes; the paper's table has (M+2)NPPN^2 in its place.
// With g groups, g leaders share the steps, and there are two places for each.
//
// Source: Tran et al., OHIO (III.C, algorithm 1).

#include "algos/algorithms.hpp"
#include "algos/patterns/node/ohio.hpp"

namespace muster::algos {
namespace {

struct two_places : ohio_frame {
  std::size_t place_bytes;

  two_places(context& me, const arguments& call)
      : ohio_frame(me, call), place_bytes(blocks.most_bytes()) {}

  std::size_t places() const { return std::min(2 * leaders, nodes() - 1); }
  std::size_t bytes() const { return blocks.bytes() + places() * place_bytes; }

  std::span<std::byte> place(std::size_t step) const {
    const std::size_t begin = blocks.bytes() + step % places() * place_bytes;
    return shared.subspan(begin, blocks.bytes_of(from(step)));
  }

  task<> stage() { return give_all(); }
  task<> copy_out(std::size_t step) {
    return take(from(step), step == 0 ? piece_to(here()) : place(step));
  }
  task<> invite(std::size_t step) {
    if (step > places()) co_await received.taken(step - places());
    co_await me.invite(peer_in(from(step)), place(step));
  }
  task<> exchange(std::size_t step) {
    auto outgoing = me.send(peer_in(to(step)), piece_to(to(step)));
    auto incoming = me.receive(peer_in(from(step)), place(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
};

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  return fits_into_node_buffer(seen, most_bytes_of_pieces(ranks, call));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t places = std::min(2 * leaders_everywhere(of, call), of.nodes - 1);
  return cost_of_pieces(of, call, of.nodes + places);
}

}  // namespace

const algorithm alltoall_ohio_v3 = {
    .id = "ohio_v3",
    .what = collective::alltoall,
    .summary = "leaders exchange pieces, through two places whose roles swap in each step",
    .source = "Tran, OHIO III.C",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (n+2g)p^2m bytes shared",
    .costs = costs,
    .has_groups = true,
    .suits = suits,
    .stages = signal_stages,
    .run = run_ohio<two_places>,
};

}  // namespace muster::algos
