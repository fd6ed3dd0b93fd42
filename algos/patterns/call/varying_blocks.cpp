#include "algos/patterns/call/varying_blocks.hpp"

#include <algorithm>

namespace muster::algos {
namespace {

/// Copies out an item of all neighbours that have it for this rank, as they come.
task<> take_item(varying_track& on, std::span<const target> takes, std::size_t which,
                 std::size_t item) {
  auto here = on.here(item);
  while (const auto from = co_await here.next()) {
    co_await on.copy(*from, item, which, takes[*from]);
  }
}

}  // namespace

std::size_t most_items(const varying_track& on, std::span<const source> blocks) {
  std::size_t longest = 0;
  for (const source& block : blocks) longest = std::max(longest, block.size());
  return on.items_for(longest);
}

task<> stage_item(context& me, varying_track& on, std::span<const source> blocks,
                  std::size_t item) {
  std::byte* room = co_await on.room(item);
  if (item == 0) on.note(room, blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const source piece = on.piece_of(blocks[i], item);
    if (!piece.empty()) co_await me.stage({on.place(room, i), piece.size()}, piece);
  }
  on.post(item);
}

task<> exchange_blocks(context& me, varying_track& on, std::span<const source> gives,
                       std::span<const target> takes, std::size_t which) {
  if (me.node().size() == 1) co_return;
  pooled<std::size_t> counts(takes.size());
  std::size_t to_take = 0;
  for (std::size_t i = 0; i < takes.size(); ++i) {
    counts[i] = on.items_for(takes[i].size());
    if (i != me.node_index()) to_take = std::max(to_take, counts[i]);
  }
  on.will_take(counts);
  const std::size_t to_stage = on.lend(gives) ? 0 : most_items(on, gives);
  for (std::size_t k = 0; k < std::max(to_stage, to_take); ++k) {
    if (k < to_stage) co_await stage_item(me, on, gives, k);
    if (k >= to_take) continue;
    co_await take_item(on, takes, which, k);
    if (k + 1 < to_take) {
      on.take(k);
    } else {
      on.take_all();
    }
  }
  co_await on.returned();
}

}  // namespace muster::algos
