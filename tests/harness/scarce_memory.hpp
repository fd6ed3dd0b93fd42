#pragma once

#include <cstddef>

namespace muster::testing {

/// While it lives, allocations of a size throw std::bad_alloc on this thread.
class scarce_memory {
public:
  explicit scarce_memory(std::size_t bytes) noexcept;
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;

  /// How many have thrown.
  std::size_t refused() const noexcept;
};

}  // namespace muster::testing
