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

task<> run(context& me, const arguments& call) {
  const std::size_t before_root = call.root * call.bytes();
  if (me.rank() == call.root) {
    const std::span all(call.sent_to(0).data(), me.size() * call.bytes());
    me.publish(all.first(before_root), all.subspan(before_root + call.bytes()));
    if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
    co_return;
  }
  me.arrive();
  const auto blocks =
      co_await me.read(me.shape().index_of(call.root), published_bytes(me.shape(), call));
  const std::size_t place = me.rank() < call.root ? me.rank() : me.rank() - 1;
  co_await me.copy(call.result(), blocks.subspan(place * call.bytes(), call.bytes()));
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
};

}  // namespace muster::algos
