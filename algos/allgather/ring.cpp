// Allgather around a ring of all ranks.
//
//  for s = 1 … N-1: send what came last, at first the own block, to the right, and receive the
//  block of rank r-s from the left, at once
//
// N-1 steps; every block goes round once. Where ranks of a node follow each other it enters each
// node once, and one connection leads from a node to the next.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.1).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/rings/ring_allgather.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes == 1) return {};
  const std::size_t messages = of.nodes * of.ranks_a_node - 1;
  return {.messages = messages, .bytes = messages * call.bytes(), .connections = 1};
}

}  // namespace

const algorithm allgather_ring = {
    .id = "ring",
    .what = collective::allgather,
    .summary = "every block once around all ranks",
    .source = "Thakur et al. 2005",
    .formula = "np-1 messages of m bytes, 1 connection",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = ring_allgather,
};

}  // namespace muster::algos
