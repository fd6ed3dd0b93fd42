// Long reduce-scatter in the node's memory, of blocks of any lengths: an alltoall that combines.
//
//  1  every rank offers its contribution where it is, if the others can read it there; otherwise it
//     copies, segment by segment, one piece of every block into its stage
//  2  every rank combines the pieces of its own block from all straight into its result, in rank
//     order, or as they come where the order is free
//
// Offered: one pass over N blocks; staged: one copy of them before. Blocks are cut alike; the
// longest says how many segments there are, shorter ones have nothing in the last.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank the root of
// a block.

#include <algorithm>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

/// The blocks of a contribution, wherever it lies now.
class blocks {
public:
  blocks(const arguments& call, std::span<const std::byte> all) : call_(call), all_(all) {}

  std::size_t offset(std::size_t rank) const {
    return static_cast<std::size_t>(call_.sent_to(rank).data() - call_.sent_to(0).data());
  }
  std::size_t longest(std::size_t ranks) const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < ranks; ++i) bytes = std::max(bytes, call_.sent_to(i).size());
    return bytes;
  }
  /// What a segment holds of a rank's block.
  std::span<const std::byte> piece(const segments& cut, std::size_t rank,
                                   std::size_t segment) const {
    const std::size_t bytes = call_.sent_to(rank).size();
    const std::size_t from = std::min(bytes, cut.offset(segment));
    return all_.subspan(offset(rank) + from, std::min(bytes - from, cut.piece));
  }

private:
  const arguments& call_;
  std::span<const std::byte> all_;
};

task<> stage_pieces(context& me, pipeline& in, const blocks& mine, std::size_t segment) {
  std::byte* slot = co_await in.slot(segment);
  for (std::size_t to = 0; to < me.size(); ++to) {
    if (to == me.rank()) continue;
    const auto piece = mine.piece(in.cut(), to, segment);
    co_await me.stage({slot + to * in.cut().piece, piece.size()}, piece);
  }
  in.post(segment);
}

task<> combine_pieces(context& me, pipeline& in, const blocks& mine, std::size_t segment,
                      std::byte* result) {
  const auto own = mine.piece(in.cut(), me.rank(), segment);
  if (own.empty()) {
    co_await in.all_here(segment);
  } else {
    const segment_inputs inputs{in, segment, me.rank() * in.cut().piece, mine.offset(me.rank())};
    co_await combine_arrivals(me, inputs, own.data(), result + in.cut().offset(segment),
                              own.size() / me.call().element());
  }
  in.take(segment);
}

task<> run(context& me, const arguments& call) {
  std::span<const std::byte> all(call.sent_to(0).data(), call.contributed_bytes(me.size()));
  // In place, the result would overwrite what others still have to read: that is moved aside.
  if (call.in_place()) all = me.save(all);
  const blocks mine(call, all);
  pipeline in(me, 0, segments(mine.longest(me.size()), me.size(), segments::in_step, call.grain()));
  me.arrive();
  const bool lent = in.lend(all, pipeline::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    if (!lent) co_await stage_pieces(me, in, mine, k);
    co_await combine_pieces(me, in, mine, k, call.receive);
  }
  co_await in.returned();
}

bool pieces_fit(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && elements_fit(call, ranks.size());
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "flat_long",
      .what = what,
      .summary = "every rank combines its block piece by piece from stages or buffers",
      .source = "SRM 2.2",
      .needs = "one node",
      .suits = pieces_fit,
      .stages = pipeline_stages,
      .run = run,
  };
}

}  // namespace

const algorithm reduce_scatter_block_flat_long = row_of(collective::reduce_scatter_block);
const algorithm reduce_scatter_flat_long = row_of(collective::reduce_scatter);

}  // namespace muster::algos
