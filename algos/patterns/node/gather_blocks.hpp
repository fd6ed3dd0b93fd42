#pragma once

#include <algorithm>

#include <muster/run/context.hpp>

namespace muster::algos {

/// The root's part of a long gather in one node's memory, as sole reader of pipeline `on`: whoever
/// comes first is served first, up to its last segment; the others fill their stages meanwhile.
/// `copy(local peer, segment)` copies a segment that has arrived.
template <class Copy>
task<> gather_blocks(pipeline& on, Copy copy) {
  auto here = on.here(0);
  while (const auto from = co_await here.next()) {
    const std::size_t count = on.segments_of(*from);
    for (std::size_t k = 0; k < count; ++k) {
      if (k != 0) co_await on.arrived(*from, k);
      co_await copy(*from, k);
      if (k + 1 < count) on.take_of(*from, k);
    }
    // A lender, whose first segment was all, waits for as many as it would have staged.
    on.take_of(*from, std::max(count, on.cut().count()) - 1);
  }
}

}  // namespace muster::algos
