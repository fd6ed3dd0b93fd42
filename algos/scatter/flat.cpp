// Short scatter in the node's memory.
//
//  1  the root copies all blocks but its own beside its arrival and is done
//  2  every other rank waits for the root's arrival alone and copies its block out
//
// One copy in of N-1 blocks and one block out a rank. Nobody waits for the readers.
//
// Source: the broadcast of Tipparaju, Nieplocha, Panda 2003 (2.2), of which each rank reads a part.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

std::size_t published_bytes(const shape& ranks, const arguments& call) {
  return (ranks.size() - 1) * call.bytes();
}

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && published_bytes(ranks, call) <= wire::short_stage_bytes;
}

stage_kind stages(const shape& ranks, const machine&, const arguments& call) {
  return published_bytes(ranks, call) <= wire::inline_bytes ? stage_kind::none
                                                            : stage_kind::one_way;
}

/// By the root: all blocks but its own, which it copies.
wire::work_wait publish(context& me, const arguments& call) {
  const std::size_t before_root = call.root * call.bytes();
  const std::span all(call.sent_to(0).data(), me.size() * call.bytes());
  me.publish(all.first(before_root), all.subspan(before_root + call.bytes()));
  return call.in_place() ? wire::work_wait() : me.copy(call.result(), call.sent_to(me.rank()));
}

wire::work_wait pick(context& me, const arguments& call, std::span<const std::byte> blocks) {
  const std::size_t place = me.rank() < call.root ? me.rank() : me.rank() - 1;
  return me.copy(call.result(), blocks.subspan(place * call.bytes(), call.bytes()));
}

task<> run(context& me, const arguments& call) {
  if (me.rank() == call.root) {
    co_await publish(me, call);
    co_return;
  }
  me.arrive();
  const auto blocks =
      co_await me.read(me.shape().index_of(call.root), published_bytes(me.shape(), call));
  co_await pick(me, call, blocks);
}

bool at_once(context& me, const arguments& call) {
  if (me.rank() == call.root) {
    publish(me, call);
    return true;
  }
  me.arrive();
  const auto blocks =
      me.read_now(me.shape().index_of(call.root), published_bytes(me.shape(), call));
  if (blocks) pick(me, call, *blocks);
  return blocks.has_value();
}

}  // namespace

const algorithm scatter_flat = {
    .id = "flat",
    .what = collective::scatter,
    .summary = "every rank picks its block from the root's slot in shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB at the root",
    .suits = suits,
    .stages = stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
