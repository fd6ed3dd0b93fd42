// Allgather of blocks of any lengths around a ring of all ranks.
//
//  for s = 1 … N-1: send what came last, at first the own block, to the right, and receive the
//  block of rank r-s from the left, at once
//
// N-1 steps; every block goes round once. Where ranks of a node follow each other it enters each
// node once.
//
// Source: the ring among leaders of Qian 2010 (4.4.2), with every rank its own leader.

#include <algorithm>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/rings/ring_allgather.hpp"

namespace muster::algos {
namespace {

/// The last rank of a node passes on all blocks but that of the one after it.
node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes == 1) return {};
  const std::size_t all = of.nodes * of.ranks_a_node;
  std::size_t total = 0;
  std::size_t shortest = block_from(0, call);  // of the blocks with which nodes begin
  for (std::size_t rank = 0; rank < all; ++rank) {
    const std::size_t bytes = block_from(rank, call);
    total += bytes;
    if (rank % of.ranks_a_node == 0) shortest = std::min(shortest, bytes);
  }
  return {.messages = all - 1, .bytes = total - shortest, .connections = 1};
}

}  // namespace

const algorithm allgatherv_ring = {
    .id = "ring",
    .what = collective::allgatherv,
    .summary = "every block once around all ranks",
    .source = "Qian 4.4.2",
    .formula = "np-1 messages of all blocks but the next rank's, 1 connection",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = ring_allgather,
};

}  // namespace muster::algos
