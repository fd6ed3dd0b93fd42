// Gather of blocks of any lengths between any ranks.
//
//  the root receives each rank's block, four at a time, so that one that is late does not hold up
//  all
//
// N-1 messages, none passed on: only the root and each sender know how long a block is.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one receiver.

#include "algos/algorithms.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t at_a_time = 4;

/// From every fourth rank after the root, from the `first` on.
task<> receive_some(context& me, const arguments& call, std::size_t first) {
  for (std::size_t step = first; step < me.size(); step += at_a_time) {
    const std::size_t from = (me.rank() + step) % me.size();
    co_await me.expect(from, call.received_from(from));
  }
}

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.deliver(call.root, call.own_block(me.rank()));
    co_return;
  }
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  auto first = receive_some(me, call, 1);
  auto second = receive_some(me, call, 2);
  auto third = receive_some(me, call, 3);
  auto fourth = receive_some(me, call, at_a_time);
  co_await when_all(std::move(first), std::move(second), std::move(third), std::move(fourth));
}

}  // namespace

const algorithm gatherv_linear = {
    .id = "linear",
    .what = collective::gatherv,
    .summary = "the root receives each rank's block",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
