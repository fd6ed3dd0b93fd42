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

task<> invite_leaders(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    co_await in.me.invite(leader_of(in.me.shape(), from), in.blocks.bytes_of(from));
  }
}

task<> exchange_pieces(node_alltoall& in) {
  const shape& ranks = in.me.shape();
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t to = in.node_ahead(step);
    const std::size_t from = in.node_back(step);
    auto outgoing = in.me.deliver(leader_of(ranks, to), in.piece_to(to));
    auto incoming = in.me.collect(leader_of(ranks, from), in.piece_from(from));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

task<> send_to_peers(node_alltoall& in, std::size_t node, std::span<std::byte> piece) {
  const auto ranks = in.me.shape().ranks_of(node);
  for (std::size_t i = in.me.node_index(); i < ranks.size(); i += in.me.node().size()) {
    co_await in.me.deliver(ranks[i], in.blocks.row_to(piece, i));
  }
}

namespace {

/// Who sends this rank what comes from a node.
std::size_t peer_on(const node_alltoall& in, std::size_t node) {
  const auto ranks = in.me.shape().ranks_of(node);
  return ranks[in.me.node_index() % ranks.size()];
}

}  // namespace

task<> invite_peers(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    const std::size_t blocks = in.me.shape().ranks_of(from).size();
    co_await in.me.invite(peer_on(in, from), blocks * in.call.bytes());
  }
}

task<> receive_from_peer(node_alltoall& in, std::size_t node) {
  const std::size_t block = in.call.bytes();
  const auto ranks = in.me.shape().ranks_of(node);
  const std::size_t bytes = ranks.size() * block;
  if (ranks.back() - ranks.front() + 1 == ranks.size()) {
    co_await in.me.collect(peer_on(in, node), {in.call.received_from(ranks.front()).data(), bytes});
    co_return;
  }
  pooled<std::byte> together(bytes);
  co_await in.me.collect(peer_on(in, node), together);
  const std::span<const std::byte> all = together;
  co_await copy_runs(
      in.me, ranks.size(), [&](std::size_t i) { return in.call.received_from(ranks[i]); },
      [&](std::size_t i) { return all.subspan(i * block, block); });
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
