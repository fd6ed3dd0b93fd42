#pragma once

#include <algorithm>
#include <cstddef>

#include <muster/wire/board.hpp>

namespace muster {

/// How the blocks of a long operation are cut into segments that fit into the stage.
///
/// A rank's contribution is `blocks` blocks of `block_bytes` (one block, or one for each rank);
/// segment k holds the k-th piece of every block.
struct segments {
  std::size_t block_bytes = 0;
  std::size_t blocks = 1;
  std::size_t ahead = 0;  ///< segments that a writer may stage before the slowest reader took them
  std::size_t piece = 0;  ///< bytes of a block in one segment, a multiple of the grain

  /// Where many ranks write, more than two segments ahead would only take cache away; where readers
  /// follow one writer, he may go as far as the stage allows.
  static constexpr std::size_t in_step = 2;
  static constexpr std::size_t far = wire::staged_segments;

  /// \param grain what pieces are multiples of, itself one of the cache line; one grain of every
  ///              block fits into a segment
  segments(std::size_t block_bytes, std::size_t blocks, std::size_t ahead = in_step,
           std::size_t grain = wire::cache_line) noexcept;

  /// Of one writer whose readers follow: of a short block so many segments that the writer may
  /// stage all of them at once, and the readers begin while it does.
  static segments followed(std::size_t block_bytes, std::size_t blocks) noexcept;

  std::size_t count() const noexcept { return (block_bytes + piece - 1) / piece; }
  std::size_t offset(std::size_t segment) const noexcept { return segment * piece; }
  std::size_t length(std::size_t segment) const noexcept {
    return std::min(piece, block_bytes - offset(segment));
  }
};

}  // namespace muster
