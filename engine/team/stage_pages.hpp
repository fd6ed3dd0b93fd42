#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <muster/call/arguments.hpp>
#include <muster/wire/board.hpp>

namespace muster {

/// How much of its long stages a rank has touched.
///
/// A page of shared memory costs microseconds when it is first touched, more than several copies of
/// what it holds: the first messages of a collective and size are better copied by the kernel from
/// where they are. Whoever calls often gets a stage.
class stage_pages {
public:
  /// Whether a message of a collective, of which `staged` bytes would be in a stage at once, had
  /// better not be staged yet.
  bool are_too_new(collective what, std::size_t stage, std::size_t pipeline, std::size_t message,
                   std::size_t staged) noexcept {
    std::size_t& touched = touched_[stage * wire::pipelines + pipeline];
    if (staged <= touched) return false;
    const std::size_t size = std::min<std::size_t>(std::bit_width(message), sizes - 1);
    std::uint8_t& messages = messages_[static_cast<std::size_t>(what)][size];
    if (messages == most_messages) {
      touched = staged;
      return false;
    }
    ++messages;
    return true;
  }

private:
  static constexpr std::uint8_t most_messages = 32;
  static constexpr std::size_t sizes = 26;  // in powers of two
  std::array<std::size_t, wire::long_stages * wire::pipelines> touched_{};
  std::array<std::array<std::uint8_t, sizes>, collectives> messages_{};
};

}  // namespace muster
