#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace muster::verbs {

/// Addresses from one to before another.
struct address_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  /// Of all memory.
  static constexpr address_range all() noexcept {
    return {0, std::numeric_limits<std::uintptr_t>::max()};
  }
  static address_range of(std::span<const std::byte> bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    return {begin, begin + bytes.size()};
  }

  friend bool operator==(const address_range&, const address_range&) = default;

  constexpr std::size_t size() const noexcept { return end - begin; }
  constexpr bool covers(const address_range& other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
  constexpr bool overlaps(const address_range& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  /// Grown to whole pages. \param page a power of two
  constexpr address_range rounded_to(std::size_t page) const noexcept {
    return {begin & ~(page - 1), (end + page - 1) & ~(page - 1)};
  }
  std::span<std::byte> bytes() const noexcept {
    return {reinterpret_cast<std::byte*>(begin), size()};
  }
};

}  // namespace muster::verbs
