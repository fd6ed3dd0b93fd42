#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

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

/// Collective: everybody's `mine`, in rank order.
template <class T>
  requires std::is_trivially_copyable_v<T>
std::vector<T> tell_all(bootstrap& among, const T& mine) {
  std::vector<T> all(among.size());
  among.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace muster
