// Scatter of blocks of any lengths between any ranks.
//
//  the root sends each rank its block, four at a time, so that one that is late holds up no other
//
// N-1 messages, none passed on: only the root and each receiver know how long a block is.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one sender.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/some_at_a_time.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != call.root) {
    co_await me.expect(call.root, call.result());
    co_return;
  }
  if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
  const auto transfer = [&](std::size_t to) { return me.send(to, call.sent_to(to)); };
  co_await transfer_with_all(me, transfer);
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
