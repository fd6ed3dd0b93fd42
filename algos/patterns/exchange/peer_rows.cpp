#include "algos/patterns/exchange/peer_rows.hpp"

namespace muster::algos {
namespace {

/// Who sends this rank what comes from a node.
std::size_t peer_on(const node_alltoall& in, std::size_t node) {
  const auto ranks = in.me.shape().ranks_of(node);
  return ranks[in.me.node_index() % ranks.size()];
}

}  // namespace

task<> send_to_peers(node_alltoall& in, std::size_t node, std::span<std::byte> piece) {
  const auto ranks = in.me.shape().ranks_of(node);
  for (std::size_t i = in.me.node_index(); i < ranks.size(); i += in.me.node().size()) {
    co_await in.me.send(ranks[i], in.blocks.row_to(piece, i));
  }
}

task<> invite_peers(node_alltoall& in, node_messages& rows) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    co_await rows.invite(peer_on(in, in.node_back(step)));
  }
}

task<> receive_from_peers(node_alltoall& in, node_messages& rows) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    co_await rows.receive(peer_on(in, in.node_back(step)));
  }
}

}  // namespace muster::algos
