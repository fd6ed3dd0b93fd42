#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Stages blocks for all local peers, segment by segment: one piece of every block in each.
/// `block(local peer)` is where a local peer's lies.
template <class Block>
task<> stage_blocks(context& me, pipeline& on, Block block) {
  const segments& cut = on.cut();
  for (std::size_t k = 0; k < cut.count(); ++k) {
    std::byte* const slot = co_await on.slot(k);
    for (std::size_t to = 0; to < me.node().size(); ++to) {
      if (to == me.node_index()) continue;
      co_await me.stage({slot + to * cut.piece, cut.length(k)},
                        block(to).subspan(cut.offset(k), cut.length(k)));
    }
    on.post(k);
  }
}

}  // namespace muster::algos
