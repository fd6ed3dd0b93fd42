#pragma once

#include <cstddef>
#include <map>
#include <span>

namespace muster::shm {

/// Gives out parts of a stretch of memory, first fit, in whole pages.
class arena {
public:
  explicit arena(std::span<std::byte> memory);
  /// \throws error `errc::resource` when no free stretch is long enough.
  std::span<std::byte> allocate(std::size_t bytes);
  void deallocate(std::span<std::byte> part) noexcept;
  bool contains(std::span<const std::byte> bytes) const noexcept;

private:
  std::span<std::byte> memory_;
  std::map<std::size_t, std::size_t> free_;  // offset → length; neighbors are always joined
};

}  // namespace muster::shm
