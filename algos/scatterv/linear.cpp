// Scatter of blocks of any lengths between any ranks.
//
//  the root sends each rank its block, four at a time, so that one that is late does not hold up
//  all
//
// N-1 messages, none passed on: only the root and each receiver know how long a block is.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one sender.

#include "algos/algorithms.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t at_a_time = 4;

/// To every fourth rank after the root, from the `first` on.
task<> send_some(context& me, const arguments& call, std::size_t first) {
  for (std::size_t step = first; step < me.size(); step += at_a_time) {
    const std::size_t to = (me.rank() + step) % me.size();
    co_await me.deliver(to, call.sent_to(to));
  }
}

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.expect(call.root, call.result());
    co_return;
  }
  if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
  auto first = send_some(me, call, 1);
  auto second = send_some(me, call, 2);
  auto third = send_some(me, call, 3);
  auto fourth = send_some(me, call, at_a_time);
  co_await when_all(std::move(first), std::move(second), std::move(third), std::move(fourth));
}

}  // namespace

const algorithm scatterv_linear = {
    .id = "linear",
    .what = collective::scatterv,
    .summary = "the root sends each rank its block",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
