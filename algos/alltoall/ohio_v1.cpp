// Alltoall over nodes, through a leader each, straight out of what was staged: OHIO's first design.
//
//  1  every rank copies its blocks into the node's shared send buffer, one rank's after the other's
//  2  the leader exchanges with the other nodes', pairwise, by XOR where the nodes are a power of
//  two
//     and by shifts where not: what goes to a node lies in p pieces and takes as many messages
//  3  meanwhile all ranks copy out of the shared receive buffer what came in the step before; in
//  the
//     first step their own node's blocks, straight out of the send buffer
//
// A node posts (n-1)p messages of p blocks over n-1 connections. Of shared memory it takes
// (2n-1)mp^2 bytes: the paper's 2mnp^2 without the place to receive one's own node's blocks, which
// nobody needs. With g groups, g leaders share the steps.
//
// Source: Tran et al., OHIO (III.A).

#include "algos/algorithms.hpp"
#include "algos/patterns/ohio.hpp"

namespace muster::algos {
namespace {

struct as_staged : ohio_frame {
  source_rows rows;  // of the send buffer

  as_staged(context& me, const arguments& call)
      : ohio_frame(me, call), rows(me.shape(), here, call.bytes()) {}

  std::size_t bytes() const { return rows.bytes() + pieces.bytes(); }

  std::span<std::byte> piece_received(std::size_t node) const {
    return pieces.of_node(shared.subspan(rows.bytes()), node);
  }
  std::span<const std::byte> block_from(std::size_t step, std::size_t source) const {
    if (step == 0) return rows.to(shared, me.shape().index_of(source), me.rank());
    return pieces.from(piece_received(from(step)), source, me.node_index());
  }

  task<> stage() {
    const auto place = [this](std::size_t rank) { return rows.to(shared, me.node_index(), rank); };
    const auto block = [this](std::size_t rank) { return call.sent_to(rank); };
    co_await copy_runs(me, me.size(), place, block);
  }
  task<> send(std::size_t node) {
    for (std::size_t source = 0; source < me.node().size(); ++source) {
      co_await me.deliver(peer_in(node), rows.of_node(shared, source, node));
    }
  }
  task<> receive(std::size_t node) {
    const std::size_t sources = me.shape().ranks_of(node).size();
    const auto piece = piece_received(node);
    for (std::size_t source = 0; source < sources; ++source) {
      co_await me.invite(peer_in(node), pieces.row_from(piece, source).size());
    }
    for (std::size_t source = 0; source < sources; ++source) {
      co_await me.collect(peer_in(node), pieces.row_from(piece, source));
    }
  }
  task<> exchange(std::size_t step) {
    auto outgoing = send(to(step));
    auto incoming = receive(from(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
};

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return fits_into_shared_buffer(2 * most_bytes_of_pieces(ranks, call));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t nodes = of.nodes - 1;
  const std::size_t piece = of.ranks_a_node * of.ranks_a_node * call.bytes();
  return {.messages = nodes * of.ranks_a_node,
          .bytes = nodes * piece,
          .connections = nodes,
          .memory = (of.nodes + nodes) * piece};
}

}  // namespace

const algorithm alltoall_ohio_v1 = {
    .id = "ohio_v1",
    .what = collective::alltoall,
    .summary = "leaders exchange what is staged as it was, a message for each of their ranks",
    .source = "Tran, OHIO III.A",
    .formula = "(n-1)p messages of pm bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = costs,
    .has_groups = true,
    .suits = suits,
    .stages = signal_stages,
    .run = run_ohio<as_staged>,
};

}  // namespace muster::algos
