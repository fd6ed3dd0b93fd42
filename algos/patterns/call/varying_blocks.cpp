#include "algos/patterns/call/varying_blocks.hpp"

#include <algorithm>

namespace muster::algos {
namespace {

/// Copies out a segment of all local peers that have it for this rank, as they come.
task<> take_segment(varying_pipeline& on, std::span<const target> takes, std::size_t which,
                    std::size_t segment) {
  auto here = on.here(segment);
  while (const auto from = co_await here.next()) {
    co_await on.copy(*from, segment, which, takes[*from]);
  }
}

}  // namespace

std::size_t most_segments(const varying_pipeline& on, std::span<const source> blocks) {
  std::size_t longest = 0;
  for (const source& block : blocks) longest = std::max(longest, block.size());
  return on.segments_for(longest);
}

task<> stage_segment(context& me, varying_pipeline& on, std::span<const source> blocks,
                     std::size_t segment) {
  std::byte* slot = co_await on.slot(segment);
  if (segment == 0) on.note(slot, blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const source piece = on.piece_of(blocks[i], segment);
    if (!piece.empty()) co_await me.stage({on.place(slot, i), piece.size()}, piece);
  }
  on.post(segment);
}

task<> exchange_blocks(context& me, varying_pipeline& on, std::span<const source> gives,
                       std::span<const target> takes, std::size_t which) {
  if (me.node().size() == 1) co_return;
  pooled<std::size_t> counts(takes.size());
  std::size_t to_take = 0;
  for (std::size_t i = 0; i < takes.size(); ++i) {
    counts[i] = on.segments_for(takes[i].size());
    if (i != me.node_index()) to_take = std::max(to_take, counts[i]);
  }
  on.will_take(counts);
  const std::size_t to_stage = on.lend(gives) ? 0 : most_segments(on, gives);
  for (std::size_t k = 0; k < std::max(to_stage, to_take); ++k) {
    if (k < to_stage) co_await stage_segment(me, on, gives, k);
    if (k >= to_take) continue;
    co_await take_segment(on, takes, which, k);
    if (k + 1 < to_take) {
      on.take(k);
    } else {
      on.take_all();
    }
  }
  co_await on.returned();
}

}  // namespace muster::algos
