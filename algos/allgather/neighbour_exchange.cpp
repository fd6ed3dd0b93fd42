// Allgather among neighbours in a ring of all ranks, for an even number of them.
//
//  1  ranks 2q and 2q+1 exchange their blocks, which make pair q
//  2  for s = 2 … N/2: exchange the pair of blocks that came last for the one that came last to the
//     neighbour, by turns the left and the right one: even ranks begin with the left, odd ones with
//     the right
//
// N/2 steps, each of two blocks after the first: half as many as around a ring, in which only
// neighbours talk, too.
//
// Source: Chen, Zhang, Zhang, Yuan 2005.

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

/// What a rank does in which step; steps count from 1 on.
struct neighbour_steps {
  std::size_t ranks;
  std::size_t rank;

  std::size_t count() const { return ranks / 2; }
  bool goes_left(std::size_t step) const { return step % 2 == rank % 2; }
  std::size_t partner(std::size_t step) const {
    return (rank + (goes_left(step) ? ranks - 1 : 1)) % ranks;
  }
  /// The pair that comes; that of this rank is half there when it comes in the first step.
  std::size_t pair(std::size_t step) const {
    const std::size_t away = step / 2;
    return (rank / 2 + (goes_left(step) ? count() - away : away)) % count();
  }
};

struct exchange {
  context& me;
  const arguments& call;
  neighbour_steps steps;

  std::span<std::byte> pair(std::size_t step) const {
    return {call.received_from(2 * steps.pair(step)).data(), 2 * call.bytes()};
  }
  std::span<const std::byte> outgoing(std::size_t step) const {
    if (step == 1) return call.own_block(me.rank());
    return pair(step - 1);
  }
  std::span<std::byte> incoming(std::size_t step) const {
    return step == 1 ? call.received_from(steps.partner(1)) : pair(step);
  }
  task<> invite(std::size_t step) const { return me.invite(steps.partner(step), incoming(step)); }
};

task<> run(context& me, const arguments& call) {
  const exchange with{me, call, {me.size(), me.rank()}};
  me.arrive();
  co_await with.invite(1);
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  for (std::size_t step = 1; step <= with.steps.count(); ++step) {
    // One step ahead, so that the other neighbour need not wait for it.
    if (step < with.steps.count()) co_await with.invite(step + 1);
    auto outgoing = me.send(with.steps.partner(step), with.outgoing(step));
    auto incoming = me.receive(with.steps.partner(step), with.incoming(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

bool suits(const shape& ranks, const machine&, const arguments&) { return ranks.size() % 2 == 0; }

/// A rank at the border of its node sends across it in every other step.
node_cost costs(const even_nodes& of, const arguments& call) {
  message_tally messages(of);
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const neighbour_steps steps{ranks, rank};
    for (std::size_t step = 1; step <= steps.count(); ++step) {
      messages.send(rank, steps.partner(step), (step == 1 ? 1 : 2) * call.bytes());
    }
  }
  return messages.most();
}

}  // namespace

const algorithm allgather_neighbour_exchange = {
    .id = "neighbour_exchange",
    .what = collective::allgather,
    .summary = "pairs of blocks between neighbours, by turns left and right; even numbers of ranks",
    .source = "Chen et al. 2005",
    .formula = "about np/2 messages of 2m bytes, 2 connections",
    .costs = costs,
    .suits = suits,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
