#pragma once

#include <cstddef>
#include <span>

namespace muster {

/// How processes that are to become the ranks of a job tell each other what that takes, before
/// Muster connects them. Whoever started them provides it.
class bootstrap {
public:
  virtual std::size_t rank() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
  /// Collective: everybody's `mine`, all of one length, in rank order.
  virtual void allgather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

protected:
  ~bootstrap() = default;
};

}  // namespace muster
