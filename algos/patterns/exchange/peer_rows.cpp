#include "algos/patterns/exchange/peer_rows.hpp"

#include "algos/patterns/node/copy_runs.hpp"

namespace muster::algos {
namespace {

/// Who sends this rank what comes from a node.
std::size_t peer_on(const node_alltoall& in, std::size_t node) {
  const auto ranks = in.me.shape().ranks_of(node);
  return ranks[in.me.node_index() % ranks.size()];
}

task<> receive_from(node_alltoall& in, std::size_t node) {
  const std::size_t block = in.call.bytes();
  const auto ranks = in.me.shape().ranks_of(node);
  const std::size_t bytes = ranks.size() * block;
  if (ranks.back() - ranks.front() + 1 == ranks.size()) {
    co_await in.me.receive(peer_on(in, node), {in.call.received_from(ranks.front()).data(), bytes});
    co_return;
  }
  pooled<std::byte> row(bytes);
  co_await in.me.receive(peer_on(in, node), row);
  const std::span<const std::byte> all = row;
  co_await copy_runs(
      in.me, ranks.size(), [&](std::size_t i) { return in.call.received_from(ranks[i]); },
      [&](std::size_t i) { return all.subspan(i * block, block); });
}

}  // namespace

task<> send_to_peers(node_alltoall& in, std::size_t node, std::span<std::byte> piece) {
  const auto ranks = in.me.shape().ranks_of(node);
  for (std::size_t i = in.me.node_index(); i < ranks.size(); i += in.me.node().size()) {
    co_await in.me.send(ranks[i], in.blocks.row_to(piece, i));
  }
}

task<> invite_peers(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t from = in.node_back(step);
    const std::size_t blocks = in.me.shape().ranks_of(from).size();
    co_await in.me.invite(peer_on(in, from), blocks * in.call.bytes());
  }
}

task<> receive_from_peers(node_alltoall& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    co_await receive_from(in, in.node_back(step));
  }
}

}  // namespace muster::algos
