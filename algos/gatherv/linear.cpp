// Gather of blocks of any lengths between any ranks.
//
//  1  the root invites all others whose blocks are long enough to go in place
//  2  every other rank sends its block to the root, which takes whichever comes first
//
// N-1 messages, none passed on: only the root and each sender know how long a block is.
//
// Source: Qian 2010 (3.4.2), the direct algorithm, served in the order of arrival as in 6.4.

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/take_as_they_come.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() == call.root) {
    co_await take_as_they_come(me, call);
  } else {
    co_await me.send(call.root, call.own_block(me.rank()));
  }
}

}  // namespace

const algorithm gatherv_linear = {
    .id = "linear",
    .what = collective::gatherv,
    .summary = "every rank sends its block to the root, which takes them as they come",
    .source = "Qian 3.4.2",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
