// Long alltoall in the node's memory.
//
//  1  every rank offers its send buffer where it is, if the others can get at it there; otherwise
//     it copies, segment by segment, one piece of every block into its stage
//  2  every rank copies its own pieces out of the others' in the order of their arrival
//
// Offered: one copy a block; staged: two, the second from a cache that the first has filled.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> stage_pieces(context& me, pipeline& blocks, std::span<const std::byte> all,
                    std::size_t segment) {
  std::byte* slot = co_await blocks.slot(segment);
  const segments& cut = blocks.cut();
  for (std::size_t to = 0; to < cut.blocks; ++to) {
    if (to == me.rank()) continue;
    co_await me.stage({slot + to * cut.piece, cut.length(segment)},
                      all.subspan(to * cut.block_bytes + cut.offset(segment), cut.length(segment)));
  }
  blocks.post(segment);
}

task<> run(context& me, const arguments& call) {
  std::span<const std::byte> all(call.sent_to(0).data(), call.bytes() * me.size());
  // In place, blocks must leave before others come: they are moved aside first.
  if (call.in_place()) all = me.save(all);
  pipeline blocks(me, 0, segments(call.bytes(), me.size()));
  me.arrive();
  const bool lent = blocks.lend(all, pipeline::lending::for_copies);
  for (std::size_t k = 0; k < blocks.cut().count(); ++k) {
    if (!lent) co_await stage_pieces(me, blocks, all, k);
    auto here = blocks.here(k);
    while (const auto from = co_await here.next()) {
      co_await blocks.copy(*from, k, me.rank(), call.received_from(*from));
    }
    blocks.take(k);
  }
  co_await me.copy_own(call.received_from(me.rank()),
                       all.subspan(me.rank() * call.bytes(), call.bytes()));
  co_await blocks.returned();
}

}  // namespace

const algorithm alltoall_flat_long = {
    .id = "flat_long",
    .what = collective::alltoall,
    .summary = "pieces of all blocks through every rank's stage, or straight from its buffer",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
