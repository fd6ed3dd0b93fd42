#include "algos/patterns/node_alltoall.hpp"

#include <algorithm>

#include "algos/patterns/copy_runs.hpp"
#include "engine/collective/staging.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {

node_alltoall::node_alltoall(context& me, const arguments& call, node_matrix::order in_piece)
    : me(me),
      call(call),
      blocks(me.shape(), node_number(me), call.bytes(), in_piece),
      sent(call.sent_to(0).data(), call.bytes() * me.size()),
      given(me, 0, signals),
      received(me, 1, signals) {}

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

task<> run_in_node_buffer(node_alltoall& in, std::size_t bytes, std::size_t last,
                          task<> (*part)(node_alltoall&)) {
  context& me = in.me;
  if (!is_leader(me)) {
    me.arrive();
    in.shared = co_await me.staging_of(0, bytes);
    co_await part(in);
    co_return;
  }
  staging shared(me, bytes);
  in.shared = shared.bytes();
  me.publish(shared.announcement());
  co_await part(in);
  co_await in.received.taken(last);
  shared.release();
}

namespace {

task<> send_pieces(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    co_await in.me.deliver(leader_of(in.me.shape(), to), in.piece_to(to));
  }
}

task<> receive_pieces(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    co_await in.me.collect(leader_of(in.me.shape(), from), in.piece_from(from));
  }
}

}  // namespace

task<> invite_leaders(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    co_await in.me.invite(leader_of(in.me.shape(), from), in.blocks.bytes_of(from));
  }
}

task<> exchange_pieces(node_alltoall& in) {
  auto outgoing = send_pieces(in);
  auto incoming = receive_pieces(in);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

std::size_t most_ranks_a_node(const shape& ranks) {
  std::size_t most = 0;
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    most = std::max(most, ranks.ranks_of(node).size());
  }
  return most;
}

bool fits_both_ways(const shape& ranks, const machine&, const arguments& call) {
  return fits_into_shared_buffer(2 * call.bytes() * ranks.size() * most_ranks_a_node(ranks));
}

std::size_t memory_both_ways(const even_nodes& of, const arguments& call) {
  return (2 * of.nodes - 1) * of.ranks_a_node * of.ranks_a_node * call.bytes();
}

}  // namespace muster::algos
