#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/wire/board.hpp"

namespace muster::algos {

/// A stretch of bytes.
struct slice {
  std::size_t offset;
  std::size_t length;
};

/// The part of `bytes` that worker `index` of `workers` combines: equal parts, cut at cache lines
/// so that no two workers write to one line; the last ones may be shorter or empty.
inline slice slice_of(std::size_t bytes, std::size_t index, std::size_t workers) noexcept {
  const std::size_t lines = (bytes + wire::cache_line - 1) / wire::cache_line;
  const std::size_t each = (lines + workers - 1) / workers * wire::cache_line;
  const std::size_t from = std::min(bytes, index * each);
  return {from, std::min(bytes, from + each) - from};
}

}  // namespace muster::algos
