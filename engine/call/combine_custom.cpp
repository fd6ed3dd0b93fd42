// Combining with a reduction of the user's own.

#include <algorithm>
#include <cstring>

#include <muster/call/combine.hpp>
#include <muster/coro/pooled.hpp>

namespace muster {
void combine(const custom_reduction& own, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) {
  if (count == 0) return;
  if (from.size() == 1) {
    if (to != from[0]) std::memcpy(to, from[0], count * own.element_bytes);
    return;
  }
  // A third or later input that lies where the result will must not be overwritten before its turn:
  // until then the result grows elsewhere.
  const auto same = std::find(from.begin(), from.end(), to);
  const std::size_t turn = same == from.end() ? 0 : static_cast<std::size_t>(same - from.begin());
  const std::size_t tile =
      std::clamp<std::size_t>(combine_tile_bytes / own.element_bytes, 1, count);
  pooled<std::byte> aside(turn > 1 ? tile * own.element_bytes : 0);
  for (std::size_t done = 0; done < count; done += tile) {
    const std::size_t now = std::min(tile, count - done);
    const std::size_t offset = done * own.element_bytes;
    const std::byte* left = from[0] + offset;
    for (std::size_t i = 1; i < from.size(); ++i) {
      std::byte* const result = i < turn ? aside.data() : to + offset;
      own.apply(own, result, left, from[i] + offset, now);
      left = result;
    }
  }
}

}  // namespace muster
