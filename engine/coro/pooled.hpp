#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <muster/coro/frame_pool.hpp>

namespace muster {

/// An array of a trivial type whose memory comes from the engine's frame pool: working memory of an
/// algorithm. Up to `frame_pool::largest` it costs no allocation after warm-up; above, one of the
/// heap.
template <class T>
class pooled {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

public:
  explicit pooled(std::size_t count)
      : data_(static_cast<T*>(frame_pool::allocate(count * sizeof(T)))), count_(count) {}
  ~pooled() { frame_pool::release(data_); }
  pooled(const pooled&) = delete;
  pooled& operator=(const pooled&) = delete;

  T& operator[](std::size_t i) noexcept { return data_[i]; }
  T* data() noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  operator std::span<const T>() const noexcept { return {data_, count_}; }
  operator std::span<T>() noexcept { return {data_, count_}; }

private:
  T* data_;
  std::size_t count_;
};

}  // namespace muster
