#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// An array in memory that the other ranks of the node read where it is, so that collectives move
/// its contents with one copy. Local: no other rank need know of it. Move-only; zero-initialised;
/// must die before its team, and after every operation that uses it. Usable wherever a span is.
template <class T>
class shared_buffer {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 4096);

public:
  /// \param of    a team of this rank
  /// \param count elements
  /// \throws error `errc::resource` when this rank's share of the node's memory is used up.
  shared_buffer(team& of, std::size_t count) : node_(&of.fabric().memory()), count_(count) {
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) {
      throw error(errc::invalid_argument, "shared_buffer: count " + std::to_string(count) +
                                              " overflows; expected a size that fits into memory");
    }
    memory_ = node_->allocate(count * sizeof(T), wire::node_memory::use::buffer);
    std::uninitialized_value_construct_n(data(), count_);
  }
  shared_buffer(shared_buffer&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)),
        memory_(std::exchange(other.memory_, {})),
        count_(std::exchange(other.count_, 0)) {}
  shared_buffer& operator=(shared_buffer&& other) noexcept {
    std::swap(node_, other.node_);
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~shared_buffer() {
    if (node_ != nullptr) node_->deallocate(memory_);
  }

  T* data() noexcept { return reinterpret_cast<T*>(memory_.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }
  std::size_t size() const noexcept { return count_; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + count_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + count_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  operator std::span<T>() noexcept { return {data(), count_}; }
  operator std::span<const T>() const noexcept { return {data(), count_}; }

private:
  wire::node_memory* node_;
  std::span<std::byte> memory_;
  std::size_t count_;
};

}  // namespace muster
