#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <muster/muster.hpp>

namespace muster::testing {

/// Ranks as they can lie: on one node as threads and like processes, and on two, three or all nodes
/// of their own, which memory joins, or TCP by one connection a pair, or by two.
inline std::vector<thread_options> all_layouts(std::size_t ranks) {
  std::vector<thread_options> all = {{}, {.share_address_space = false}};
  std::vector<std::size_t> counts = {2, 3, ranks};
  std::ranges::sort(counts);
  counts.erase(std::ranges::unique(counts).begin(), counts.end());
  for (const std::size_t nodes : counts) {
    if (nodes > ranks || nodes < 2) continue;
    thread_options some;
    for (std::size_t rank = 0; rank < ranks; ++rank) some.node_of.push_back(rank % nodes);
    all.push_back(some);
    some.network = between_nodes::tcp;
    all.push_back(some);
    some.connections = 2;
    all.push_back(some);
  }
  return all;
}

/// The same, and on one node with a thread of the engine's own.
inline std::vector<thread_options> all_layouts_and_threads(std::size_t ranks) {
  std::vector<thread_options> all = all_layouts(ranks);
  all.push_back({.progress = progress::thread});
  return all;
}

}  // namespace muster::testing
