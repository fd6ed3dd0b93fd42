#pragma once

#include <cstddef>

namespace muster::testing {

/// While it lives, some allocations throw std::bad_alloc on this thread.
class scarce_memory {
public:
  /// All of a size.
  explicit scarce_memory(std::size_t bytes) noexcept;
  /// One alone.
  struct number {
    std::size_t of_those_to_come;  ///< from 1
  };
  explicit scarce_memory(number which) noexcept;
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;

  /// How many have thrown, on this thread, while one of these lives.
  static std::size_t refused() noexcept;
};

}  // namespace muster::testing
