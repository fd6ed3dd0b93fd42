// Alltoall of blocks of any lengths in the node's memory.
//
//  1  every rank offers its blocks where they are, if the others can copy them from there;
//     otherwise it stages, segment by segment, one piece of every block; with the first go notes of
//     all lengths
//  2  every rank copies its own pieces out of the others' in the order of their arrival, until it
//     has all
//
// Offered: one copy a block; staged: two, the second from a cache that the first has filled. Only
// the two ends of a block know its length: each rank has as many segments as its longest block
// needs, and its readers take as many of them as they need.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include <utility>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/call/varying_blocks.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  pooled<source> gives(me.size());
  pooled<target> takes(me.size());
  for (std::size_t i = 0; i < me.size(); ++i) {
    gives[i] = call.sent_to(i);
    takes[i] = call.received_from(i);
  }
  // In place, blocks must leave before others come: they are moved aside first.
  if (call.in_place()) me.save(gives);
  const source own = std::exchange(gives[me.rank()], {});
  varying_pipeline blocks(me, 0, me.size());
  me.arrive();
  co_await me.copy_own(takes[me.rank()], own);
  co_await exchange_blocks(me, blocks, gives, takes, me.rank());
}

}  // namespace

const algorithm alltoallv_flat_long = {
    .id = "flat_long",
    .what = collective::alltoallv,
    .summary = "pieces of all blocks through every rank's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = unknown_pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
