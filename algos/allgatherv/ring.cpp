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
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const std::size_t right = (me.rank() + 1) % me.size();
  const std::size_t left = (me.rank() + me.size() - 1) % me.size();
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t last = (me.rank() + me.size() - step + 1) % me.size();
    const std::size_t next = (me.rank() + me.size() - step) % me.size();
    auto outgoing = me.deliver(right, call.received_from(last));
    auto incoming = me.expect(left, call.received_from(next));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace

const algorithm allgatherv_ring = {
    .id = "ring",
    .what = collective::allgatherv,
    .summary = "every block once around all ranks",
    .source = "Qian 4.4.2",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
