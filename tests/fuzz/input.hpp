#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace muster::fuzz {

/// The bytes of one input, taken from its front.
class input {
public:
  input(const std::uint8_t* data, std::size_t size) : left_(std::as_bytes(std::span(data, size))) {}

  bool empty() const noexcept { return left_.empty(); }
  std::size_t size() const noexcept { return left_.size(); }
  /// The next bytes as they lie there, with zeros where there are no more.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T take() noexcept {
    T taken{};
    const auto bytes = take_bytes(sizeof taken);
    if (!bytes.empty()) std::memcpy(&taken, bytes.data(), bytes.size());
    return taken;
  }
  /// So many, or as many as there are.
  std::span<const std::byte> take_bytes(std::size_t most) noexcept {
    const auto taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> take_rest() noexcept { return take_bytes(left_.size()); }
  /// The same as text.
  std::string take_text() {
    const auto rest = take_rest();
    return {reinterpret_cast<const char*>(rest.data()), rest.size()};
  }

private:
  std::span<const std::byte> left_;
};

}  // namespace muster::fuzz
