// Long broadcast in the node's memory.
//
//  1  the root offers its buffer where it is, if the others can read it there; otherwise it copies
//     the message, segment by segment, into its stage, as far ahead as the stage allows
//  2  every other rank copies each segment out as soon as it is there
//
// Staged: N copies, the first overlapped with the others. Offered: N-1.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2, figure 3), with a deeper pipeline than two
// buffers.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/receive_segments.hpp"

namespace muster::algos {
namespace {

task<> send(context& me, const arguments& call, pipeline& message) {
  if (!message.lend(call.result(), pipeline::lending::for_copies)) {
    for (std::size_t k = 0; k < message.cut().count(); ++k) {
      std::byte* slot = co_await message.slot(k);
      const std::size_t length = message.cut().length(k);
      co_await me.stage({slot, length}, call.result().subspan(message.cut().offset(k), length));
      message.post(k);
    }
  }
  co_await message.returned();
}

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (call.count == 0) co_return;
  pipeline message(me, 0, segments::followed(call.bytes(), 1));
  if (me.rank() == call.root) {
    co_await send(me, call, message);
  } else {
    co_await receive_segments(message, me.shape().index_of(call.root), 0, call.result());
  }
}

}  // namespace

const algorithm bcast_flat_long = {
    .id = "flat_long",
    .what = collective::bcast,
    .summary = "segment by segment through the root's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
