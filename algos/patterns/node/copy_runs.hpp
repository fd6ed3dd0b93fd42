#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

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

/// Of the blocks from `next` on those that follow each other, as one stretch; `next` is then the
/// one after them.
template <class Blocks>
auto take_run(const Blocks& block, std::size_t& next, std::size_t count) {
  auto stretch = block(next);
  for (++next; next < count; ++next) {
    const auto after = block(next);
    if (after.data() != stretch.data() + stretch.size()) break;
    stretch = {stretch.data(), stretch.size() + after.size()};
  }
  return stretch;
}

/// Copies `count` blocks of any lengths, the i-th from `block(i)`, one after the other to the front
/// of `packed`; those that follow each other at once.
template <class Blocks>
task<> pack(context& me, std::span<std::byte> packed, std::size_t count, Blocks block) {
  for (std::size_t next = 0; next < count;) {
    const std::span<const std::byte> run = take_run(block, next, count);
    co_await me.copy(packed.first(run.size()), run);
    packed = packed.subspan(run.size());
  }
}

/// And from there to their places.
template <class Blocks>
task<> unpack(context& me, std::span<const std::byte> packed, std::size_t count, Blocks block) {
  for (std::size_t next = 0; next < count;) {
    const std::span<std::byte> run = take_run(block, next, count);
    co_await me.copy(run, packed.first(run.size()));
    packed = packed.subspan(run.size());
  }
}

}  // namespace muster::algos
