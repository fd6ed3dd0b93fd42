#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include <muster/select/catalog.hpp>

/// What alltoalls share that exchange pieces between nodes, pairwise: in step s = 1 … n-1 each node
/// sends a piece to one other and receives one. Step 0 is between a node and itself.
namespace muster::algos {

/// Where a node's piece goes: the node that sends its own back (XOR) where they are a power of two,
/// else the one s further on.
inline std::size_t node_sent_to(const shape& ranks, std::size_t here, std::size_t step) {
  return std::has_single_bit(ranks.nodes()) ? here ^ step : (here + step) % ranks.nodes();
}
/// And where one comes from.
inline std::size_t node_received_from(const shape& ranks, std::size_t here, std::size_t step) {
  const std::size_t nodes = ranks.nodes();
  return std::has_single_bit(nodes) ? here ^ step : (here + nodes - step) % nodes;
}

/// How many ranks of every node can speak for it, of so many that are wanted.
inline std::size_t leaders_everywhere(const shape& ranks, std::size_t wanted) {
  std::size_t leaders = std::max<std::size_t>(wanted, 1);
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    leaders = std::min(leaders, ranks.ranks_of(node).size());
  }
  return leaders;
}

/// The same for formulas.
inline std::size_t leaders_everywhere(const even_nodes& of, const arguments& call) {
  return std::clamp<std::size_t>(call.how.groups, 1, of.ranks_a_node);
}

}  // namespace muster::algos
