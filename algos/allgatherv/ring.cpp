// Allgather of blocks of any lengths around a ring of all ranks.
//
//  for s = 1 … N-1: send what came last, at first the own block, to the right, and receive the
//  block of rank r-s from the left, at once
//
// N-1 steps; every block goes round once. Where ranks of a node follow each other it enters each
// node once.
//
// Source: the ring among leaders of Qian 2010 (4.4.2), with every rank its own leader.

#include "algos/algorithms.hpp"
#include "algos/patterns/ring_allgather.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {

const algorithm allgatherv_ring = {
    .id = "ring",
    .what = collective::allgatherv,
    .summary = "every block once around all ranks",
    .source = "Qian 4.4.2",
    .suits = any_team,
    .stages = no_stages,
    .run = ring_allgather,
};

}  // namespace muster::algos
