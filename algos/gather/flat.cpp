// Short gather in the node's memory.
//
//  1  every rank but the root copies its block beside its arrival and is done
//  2  the root copies the others' blocks out in the order of their arrival
//
// One copy in a rank and N copies out at the root. The others wait for nobody.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2), without its arithmetic.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  if (me.rank() != call.root) {
    me.publish(call.own_block(me.rank()));
    co_return;
  }
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  auto here = me.here();
  while (const auto from = co_await here.next()) {
    co_await me.copy(call.received_from(*from), me.published(*from, call.bytes()));
  }
}

bool at_once(context& me, const arguments& call) {
  if (me.rank() != call.root) {
    me.publish(call.own_block(me.rank()));
    return true;
  }
  me.arrive();
  if (!me.are_all_here()) return false;
  for (std::size_t from = 0; from < me.size(); ++from) {
    const auto block = from == me.rank() ? call.own_block(from) : me.published(from, call.bytes());
    me.copy(call.received_from(from), block);
  }
  return true;
}

}  // namespace

const algorithm gather_flat = {
    .id = "flat",
    .what = collective::gather,
    .summary = "the root copies what all others left in shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = one_way_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
