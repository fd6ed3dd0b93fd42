// Gather of blocks of any lengths between any ranks.
//
//  the root receives each rank's block, four at a time, so that one that is late does not hold up
//  all
//
// N-1 messages, none passed on: only the root and each sender know how long a block is.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one receiver.

#include "algos/algorithms.hpp"
#include "algos/patterns/some_at_a_time.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.deliver(call.root, call.own_block(me.rank()));
    co_return;
  }
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  const auto transfer = [&](std::size_t from) { return me.expect(from, call.received_from(from)); };
  co_await transfer_with_all(me, transfer);
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
