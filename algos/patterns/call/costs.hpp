#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <muster/select/catalog.hpp>

/// What messages cost equal nodes of ranks that follow each other.
namespace muster::algos {

/// Where every rank sends to the one a `distance` on or back, going round: how many of a node's
/// ranks send to another node.
inline std::size_t leaving_node(const even_nodes& of, std::size_t distance) {
  const std::size_t other_way = of.nodes * of.ranks_a_node - distance;
  return std::min(of.ranks_a_node, distance) -
         (of.ranks_a_node - std::min(of.ranks_a_node, other_way));
}

/// Every rank's block goes from it straight to every other rank.
inline node_cost cost_of_direct(const even_nodes& of, std::size_t block) {
  const std::size_t messages = (of.nodes - 1) * of.ranks_a_node * of.ranks_a_node;
  return {.messages = messages, .bytes = messages * block, .connections = messages};
}

/// Bytes of an allgather's block, of any length, that comes from `rank`.
inline std::size_t block_from(std::size_t rank, const arguments& call) {
  return call.receive_blocks->counts[rank] * call.element();
}

/// Counts messages one by one, for algorithms in which not all ranks do the same.
class message_tally {
public:
  explicit message_tally(const even_nodes& of) : ranks_a_node_(of.ranks_a_node), node_(of.nodes) {}

  void send(std::size_t from, std::size_t to, std::size_t bytes) {
    node_cost& sender = node_[from / ranks_a_node_];
    if (to / ranks_a_node_ == from / ranks_a_node_) return;
    ++sender.messages;
    sender.bytes += bytes;
    if (pairs_.emplace(from, to).second) ++sender.connections;
  }

  /// Of the node that has most of each.
  node_cost most() const {
    node_cost result;
    for (const node_cost& each : node_) {
      result.messages = std::max(result.messages, each.messages);
      result.bytes = std::max(result.bytes, each.bytes);
      result.connections = std::max(result.connections, each.connections);
    }
    return result;
  }

private:
  std::size_t ranks_a_node_;
  pooled_list<node_cost> node_;
  std::set<std::pair<std::size_t, std::size_t>> pairs_;
};

}  // namespace muster::algos
