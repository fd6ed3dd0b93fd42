#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/wire/board.hpp"

namespace muster {

/// How much of its long stages a rank has touched.
///
/// A page of shared memory costs microseconds when it is first touched, more than several copies of
/// what it holds: the first messages of a size are better copied by the kernel from where they are.
/// Whoever calls often gets a stage.
class stage_pages {
public:
  /// Whether a message that would take so many bytes of a stage had better not be staged yet.
  bool are_too_new(std::size_t stage, std::size_t track, std::size_t bytes) noexcept {
    std::size_t& touched = touched_[stage * wire::tracks + track];
    if (bytes <= touched) return false;
    std::uint8_t& messages = messages_[std::min<std::size_t>(std::bit_width(bytes), sizes - 1)];
    if (messages == most_messages) {
      touched = bytes;
      return false;
    }
    ++messages;
    return true;
  }

private:
  static constexpr std::uint8_t most_messages = 32;
  static constexpr std::size_t sizes = 24;  // in powers of two
  std::array<std::size_t, wire::long_stages * wire::tracks> touched_{};
  std::array<std::uint8_t, sizes> messages_{};
};

}  // namespace muster
