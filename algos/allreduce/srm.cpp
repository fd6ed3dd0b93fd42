// Allreduce over nodes, segment by segment.
//
//  1  the ranks of a node stage their contributions; the leader combines them with its own
//  2  the leaders combine their nodes' results by recursive doubling
//  3  the leader stages the result
//  4  the other ranks of its node copy it out
//
// ⌈log2 n⌉ exchanges between nodes. A rank contributes and collects at the same time, so that
// segments follow each other through the stages; "srm_pipeline" lets the leaders overlap them, too.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.4), their algorithm up to 16 KiB, at any size.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_reduce.hpp"

namespace muster::algos {
namespace {

task<> lead(context& me, const arguments& call, pipeline& in, pipeline& out) {
  const std::span<std::byte> room = me.scratch(std::min(in.cut().piece, call.bytes()));
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    const auto place = call.result().subspan(in.cut().offset(k), in.cut().length(k));
    co_await combine_node(me, in, call.contribution(), k, place);
    co_await leaders_allreduce(me, place, room);
    co_await share_with_node(me, out, place, k);
  }
  if (call.count == 0) co_await leaders_barrier(me);
}

task<> run(context& me, const arguments& call) { return allreduce_by_leaders(me, call, lead); }

}  // namespace

const algorithm allreduce_srm = {
    .id = "srm",
    .what = collective::allreduce,
    .summary = "node reduce, recursive doubling between leaders, node broadcast",
    .source = "SRM 2.4",
    .needs = "a reduction that commutes, or nodes of consecutive ranks",
    .suits = combines_by_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
