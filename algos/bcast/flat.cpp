// Short broadcast in the node's memory.
//
//  1  the root copies the message beside its arrival and is done
//  2  every other rank waits for the root's arrival alone and copies the message out
//
// N copies in all. Nobody waits for the readers: consecutive broadcasts use consecutive lanes, and
// the root waits only when it is `wire::lanes` operations ahead.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2), with lanes for its two buffers.

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  if (me.rank() == call.root) {
    me.publish(call.result());
    co_return;
  }
  me.arrive();
  const auto message = co_await me.read(me.shape().index_of(call.root), call.bytes());
  co_await me.copy(call.result(), message);
}

bool at_once(context& me, const arguments& call) {
  if (me.rank() == call.root) {
    me.publish(call.result());
    return true;
  }
  me.arrive();
  const std::span<std::byte> result = call.result();
  const auto message = me.read_now(me.shape().index_of(call.root), result.size());
  if (!message) return false;
  me.copy(result, *message);
  return true;
}

}  // namespace

const algorithm bcast_flat = {
    .id = "flat",
    .what = collective::bcast,
    .summary = "through the root's slot in shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = one_way_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
