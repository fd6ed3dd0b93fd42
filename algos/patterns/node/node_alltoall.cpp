#include "algos/patterns/node/node_alltoall.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/arrival/arrival_notes.hpp"
#include "algos/patterns/node/copy_runs.hpp"

namespace muster::algos {

node_alltoall::node_alltoall(context& me, const arguments& call, node_matrix::order in_piece)
    : node_buffer(me, call),
      blocks(me.shape(), here(), call.bytes(), in_piece),
      sent(call.sent_to(0).data(), call.bytes() * me.size()) {}

task<> node_alltoall::give(std::size_t node, std::span<std::byte> piece) {
  const auto ranks = me.shape().ranks_of(node);
  return copy_runs(
      me, ranks.size(),
      [this, ranks, piece](std::size_t i) { return blocks.to(piece, me.node_index(), ranks[i]); },
      [this, ranks](std::size_t i) { return sent.subspan(ranks[i] * call.bytes(), call.bytes()); });
}

task<> node_alltoall::give_all() {
  for (std::size_t node = 0; node < nodes(); ++node) co_await give(node, piece_to(node));
}

task<> node_alltoall::take(std::size_t node, std::span<std::byte> piece) {
  const auto ranks = me.shape().ranks_of(node);
  return copy_runs(
      me, ranks.size(), [this, ranks](std::size_t i) { return call.received_from(ranks[i]); },
      [this, ranks, piece](std::size_t i) {
        return blocks.from(piece, ranks[i], me.node_index());
      });
}

task<> node_alltoall::take_all() {
  for (std::size_t node = 0; node < nodes(); ++node) co_await take(node, piece_from(node));
}

namespace {

task<> send_pieces(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    co_await in.me.send(in.leader(to), in.piece_to(to));
  }
}

task<> receive_pieces(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    co_await in.me.receive(in.leader(from), in.piece_from(from));
  }
}

}  // namespace

task<> invite_leaders(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    co_await in.me.invite(in.leader(from), in.piece_from(from));
  }
}

task<> exchange_pieces(node_alltoall& in) {
  auto outgoing = send_pieces(in);
  auto incoming = receive_pieces(in);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> alltoall_of_leaders(node_alltoall& in) {
  co_await in.give_all();
  in.filled.post(0);
  if (is_leader(in.me)) {
    co_await invite_leaders(in);
    co_await in.filled.all_here(0);
    co_await exchange_pieces(in);
    in.received.post(0);
  }
  co_await in.received.arrived(0, 0);
  co_await in.take_all();
  in.received.take(0);
}

bool fits_both_ways(const shape& ranks, const machine& seen, const arguments& call) {
  // Some have notes behind the pieces.
  return fits_into_node_buffer(
      seen, 2 * most_bytes_of_pieces(ranks, call) + arrival_notes::bytes(ranks.nodes()));
}

node_cost cost_of_pieces(const even_nodes& of, const arguments& call, std::size_t staged) {
  const std::size_t messages = of.nodes - 1;
  const std::size_t piece = of.ranks_a_node * of.ranks_a_node * call.bytes();
  return {.messages = messages,
          .bytes = messages * piece,
          .connections = messages,
          .memory = staged * piece};
}

node_cost cost_of_pieces_both_ways(const even_nodes& of, const arguments& call) {
  return cost_of_pieces(of, call, 2 * of.nodes - 1);
}

}  // namespace muster::algos
