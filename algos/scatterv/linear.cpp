// Scatter of blocks of any lengths between any ranks.
//
//  the root sends each rank its block, all at once
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

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.expect(call.root, call.result());
    co_return;
  }
  std::vector<task<>> outgoing;
  outgoing.reserve(me.size() - 1);
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    outgoing.push_back(me.deliver(to, call.sent_to(to)));
  }
  if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
  co_await when_all(std::move(outgoing));
}

}  // namespace

const algorithm scatterv_linear = {
    .id = "linear",
    .what = collective::scatterv,
    .summary = "the root sends to all at once",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
