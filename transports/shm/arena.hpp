#pragma once

#include <cstddef>
#include <list>
#include <span>

namespace muster::shm {

/// Gives out parts of a stretch of memory, first fit, in whole pages.
class arena {
public:
  explicit arena(std::span<std::byte> memory);
  /// Either gives a part, or changes nothing.
  /// \throws error `errc::resource` when no free stretch is long enough
  std::span<std::byte> allocate(std::size_t bytes);
  void deallocate(std::span<std::byte> part) noexcept;
  bool contains(std::span<const std::byte> bytes) const noexcept;

private:
  struct stretch {
    std::size_t offset;
    std::size_t length;
  };
  /// One that is free, with what follows it, where nothing is between them.
  void join_next(std::list<stretch>::iterator one) noexcept;

  std::span<std::byte> memory_;
  std::list<stretch> free_;  // in the order of offsets; neighbors are always joined
  // With those that are free two more than there are parts given out: one more than there can be
  // free, so that a part can always be taken back, before it is joined to others.
  std::list<stretch> spare_;
};

}  // namespace muster::shm
