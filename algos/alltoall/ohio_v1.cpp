// Alltoall over nodes, through a leader each, straight out of what was staged: OHIO's first design.
//
//  1  every rank copies its blocks into the node's shared send buffer, one rank's after the other's
//  2  the leader exchanges with the other nodes', pairwise, by XOR where the nodes are a power of
//     two and by shifts where not: what goes to a node lies in p pieces and takes as many messages
//  3  meanwhile all ranks copy out of the shared receive buffer what came in the step before; in
//     the first step their own node's blocks, straight out of the send buffer
//
// A node posts (n-1)p messages of p blocks over n-1 connections. Of shared memory it takes
// (2n-1)mp^2 bytes: the paper's 2mnp^2 without the place to receive one's own node's blocks, which
// nobody needs. With g groups, g leaders share the steps.
//
// Source: Tran et al., OHIO (III.A).

#include "algos/algorithms.hpp"
#include "algos/patterns/node/copy_runs.hpp"
#include "algos/patterns/node/ohio.hpp"

namespace muster::algos {
namespace {

struct as_staged : ohio_frame {
  source_rows rows;  // of the send buffer

  as_staged(context& me, const arguments& call)
      : ohio_frame(me, call), rows(me.shape(), here(), call.bytes()) {}

  std::size_t bytes() const { return rows.bytes() + blocks.bytes(); }

  std::span<std::byte> piece_received(std::size_t node) const {
    return blocks.of_node(shared.subspan(rows.bytes()), node);
  }

  task<> stage() {
    const auto place = [this](std::size_t rank) { return rows.to(shared, me.node_index(), rank); };
    const auto block = [this](std::size_t rank) { return call.sent_to(rank); };
    co_await copy_runs(me, me.size(), place, block);
  }
  task<> copy_out(std::size_t step) {
    if (step != 0) co_return co_await take(from(step), piece_received(from(step)));
    for (std::size_t source = 0; source < me.node().size(); ++source) {
      co_await me.copy(call.received_from(me.rank_of(source)), rows.to(shared, source, me.rank()));
    }
  }
  task<> send(std::size_t node) {
    for (std::size_t source = 0; source < me.node().size(); ++source) {
      co_await me.send(peer_in(node), rows.of_node(shared, source, node));
    }
  }
  task<> invite(std::size_t step) {
    const std::size_t node = from(step);
    const auto piece = piece_received(node);
    for (std::size_t source = 0; source < me.shape().ranks_of(node).size(); ++source) {
      co_await me.invite(peer_in(node), blocks.row_from(piece, source));
    }
  }
  task<> receive(std::size_t node) {
    const auto piece = piece_received(node);
    for (std::size_t source = 0; source < me.shape().ranks_of(node).size(); ++source) {
      co_await me.receive(peer_in(node), blocks.row_from(piece, source));
    }
  }
  task<> exchange(std::size_t step) {
    auto outgoing = send(to(step));
    auto incoming = receive(from(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
};

node_cost costs(const even_nodes& of, const arguments& call) {
  node_cost cost = cost_of_pieces_both_ways(of, call);
  cost.messages *= of.ranks_a_node;
  return cost;
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
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run_ohio<as_staged>,
};

}  // namespace muster::algos
