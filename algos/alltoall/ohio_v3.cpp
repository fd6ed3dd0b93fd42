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
#include "algos/patterns/ohio.hpp"

namespace muster::algos {
namespace {

struct two_places : ohio_frame {
  std::size_t place_bytes;

  two_places(context& me, const arguments& call)
      : ohio_frame(me, call), place_bytes(pieces.most_bytes()) {}

  std::size_t places() const { return std::min(2 * leaders, nodes - 1); }
  std::size_t bytes() const { return pieces.bytes() + places() * place_bytes; }

  std::span<std::byte> piece_sent(std::size_t node) const { return pieces.of_node(shared, node); }
  std::span<std::byte> place(std::size_t step) const {
    const std::size_t begin = pieces.bytes() + step % places() * place_bytes;
    return shared.subspan(begin, pieces.bytes_of(from(step)));
  }
  std::span<const std::byte> block_from(std::size_t step, std::size_t source) const {
    const auto piece = step == 0 ? piece_sent(here) : place(step);
    return pieces.from(piece, source, me.node_index());
  }

  task<> stage() {
    const auto sent = [this](std::size_t rank) { return call.sent_to(rank); };
    for (std::size_t step = 0; step < nodes; ++step) {
      co_await stage_piece(me, pieces, piece_sent(to(step)), to(step), sent);
    }
  }
  task<> exchange(std::size_t step) {
    if (step > places()) co_await received.taken(step - places());
    auto outgoing = me.deliver(peer_in(to(step)), piece_sent(to(step)));
    auto incoming = me.expect(peer_in(from(step)), place(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
};

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return fits_into_shared_buffer(most_bytes_of_pieces(ranks, call));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = of.nodes - 1;
  const std::size_t piece = of.ranks_a_node * of.ranks_a_node * call.bytes();
  const std::size_t leaders = std::clamp<std::size_t>(call.how.groups, 1, of.ranks_a_node);
  return {.messages = messages,
          .bytes = messages * piece,
          .connections = messages,
          .memory = (of.nodes + std::min(2 * leaders, messages)) * piece};
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
