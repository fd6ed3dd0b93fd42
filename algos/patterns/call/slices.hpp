#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <muster/wire/board.hpp>

namespace muster::algos {

/// A stretch of bytes.
struct slice {
  std::size_t offset;
  std::size_t length;

  /// That part of a vector.
  template <class Byte>
  std::span<Byte> of(std::span<Byte> whole) const {
    return whole.subspan(offset, length);
  }
};

/// Where in `whole` a part of it lies.
inline slice place_of(std::span<const std::byte> part, std::span<const std::byte> whole) noexcept {
  return {static_cast<std::size_t>(part.data() - whole.data()), part.size()};
}

/// The part of `bytes` that worker `index` of `workers` combines: equal parts, cut at a `grain` of
/// whole cache lines so that no two workers write to one; the last ones may be shorter or empty.
inline slice slice_of(std::size_t bytes, std::size_t index, std::size_t workers,
                      std::size_t grain = wire::cache_line) noexcept {
  const std::size_t grains = (bytes + grain - 1) / grain;
  const std::size_t each = (grains + workers - 1) / workers * grain;
  const std::size_t from = std::min(bytes, index * each);
  return {from, std::min(bytes, from + each) - from};
}

}  // namespace muster::algos
