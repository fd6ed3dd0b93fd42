// Gather of blocks of any lengths between any ranks.
//
//  the root receives each rank's block, all at once
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

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.deliver(call.root, call.own_block(me.rank()));
    co_return;
  }
  std::vector<task<>> incoming;
  incoming.reserve(me.size() - 1);
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t from = (me.rank() + step) % me.size();
    incoming.push_back(me.expect(from, call.received_from(from)));
  }
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  co_await when_all(std::move(incoming));
}

}  // namespace

const algorithm gatherv_linear = {
    .id = "linear",
    .what = collective::gatherv,
    .summary = "the root receives from all at once",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
