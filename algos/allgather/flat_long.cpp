// Long allgather in the node's memory.
//
//  1  every rank offers its block where it is, if the others can read it there; otherwise it copies
//     it, segment by segment, into its stage
//  2  every rank copies the others' segments out in the order of their arrival
//
// Offered: N copies a rank; staged: N+1. Readers start at different local peers, so that they do
// not all read from one.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const auto own = call.own_block(me.rank());
  pipeline blocks(me, 0, segments(call.bytes(), 1));
  me.arrive();
  blocks.lend(own, pipeline::lending::for_copies);
  for (std::size_t k = 0; k < blocks.cut().count(); ++k) {
    co_await contribute(me, blocks, own, k);
    auto here = blocks.here(k);
    while (const auto from = co_await here.next()) {
      co_await blocks.copy(*from, k, 0, call.received_from(*from));
    }
    blocks.take(k);
  }
  co_await me.copy_own(call.received_from(me.rank()), own);
  co_await blocks.returned();
}

}  // namespace

const algorithm allgather_flat_long = {
    .id = "flat_long",
    .what = collective::allgather,
    .summary = "every rank copies everybody's block, from its stage or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
