#pragma once

#include <cstddef>
#include <span>

#include "engine/collective/context.hpp"

namespace muster::algos {

/// Copies `count` blocks, the i-th from `from(i)` to `to(i)`; those that follow each other on both
/// sides at once.
template <class To, class From>
task<> copy_runs(context& me, std::size_t count, To to, From from) {
  for (std::size_t i = 0; i < count;) {
    const std::span<std::byte> place = to(i);
    const std::byte* const bytes = from(i).data();
    std::size_t length = place.size();
    for (++i; i < count; ++i) {
      const bool follows =
          to(i).data() == place.data() + length && from(i).data() == bytes + length;
      if (!follows) break;
      length += to(i).size();
    }
    co_await me.copy({place.data(), length}, {bytes, length});
  }
}

}  // namespace muster::algos
