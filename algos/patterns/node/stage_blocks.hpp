#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Stages blocks for all neighbours, item by item: one piece of every block in each.
/// `block(neighbour)` is where a neighbour's lies.
template <class Block>
task<> stage_blocks(context& me, track& on, Block block) {
  const items& cut = on.cut();
  for (std::size_t k = 0; k < cut.count(); ++k) {
    std::byte* const room = co_await on.room(k);
    for (std::size_t to = 0; to < me.node().size(); ++to) {
      if (to == me.node_index()) continue;
      co_await me.stage({room + to * cut.piece, cut.length(k)},
                        block(to).subspan(cut.offset(k), cut.length(k)));
    }
    on.post(k);
  }
}

}  // namespace muster::algos
