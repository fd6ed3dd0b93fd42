#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/call/neighborhood.hpp>

/// Neighbors of all ranks, and where each of their blocks comes from: a plain reference.
namespace muster::testing {

/// With whom every rank of a team exchanges blocks, and where each block comes from.
struct graph {
  /// A block that a rank sends: which of its, and whose.
  struct origin {
    std::size_t rank = no_rank;
    std::size_t block = 0;
  };
  struct node {
    std::vector<std::size_t> sources;
    std::vector<std::size_t> destinations;
    std::vector<origin> arriving;  ///< a source each
  };
  std::vector<node> nodes;
  pairing pairs = pairing::in_order;

  neighborhood of(std::size_t rank) const {
    return {
        .sources = nodes[rank].sources, .destinations = nodes[rank].destinations, .pairs = pairs};
  }
};

/// Edges between any ranks, some of them several times, some to a rank itself.
struct graph_traits {
  bool gaps = true;      ///< some places are of nobody
  bool multiple = true;  ///< some edges are there several times
  bool lone = true;      ///< some ranks have none
  bool mutual = false;   ///< whom a rank sends to it hears from, in one list
};
graph random_graph(std::uint64_t seed, std::size_t ranks, const graph_traits& of = {});
/// A grid of some dimensions, the last one the longest that fits, some of them periodic. Worked out
/// rank by rank from coordinates.
struct grid {
  std::vector<std::size_t> dims;
  std::vector<bool> periodic;
};
grid random_grid(std::uint64_t seed, std::size_t ranks);
graph graph_of(const grid& on);

}  // namespace muster::testing
