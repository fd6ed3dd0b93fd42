#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace muster::fuzz {

/// Memory that a peer fills, between bytes that nobody may change.
class guarded_place {
public:
  explicit guarded_place(std::size_t size) : bytes_(size + 2 * guard, mark) {}

  std::span<std::byte> place() noexcept {
    return std::span(bytes_).subspan(guard, bytes_.size() - 2 * guard);
  }
  bool is_intact() const noexcept {
    const std::span<const std::byte> all = bytes_;
    return are_marks(all.first(guard)) && are_marks(all.last(guard));
  }
  /// All of it, to be compared later.
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

private:
  static constexpr std::size_t guard = 64;
  static constexpr std::byte mark{0xa5};

  static bool are_marks(std::span<const std::byte> some) noexcept {
    return std::ranges::all_of(some, [](std::byte one) { return one == mark; });
  }

  std::vector<std::byte> bytes_;
};

}  // namespace muster::fuzz
