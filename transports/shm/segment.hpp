#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <muster/base/descriptor.hpp>

namespace muster::shm {

/// Zeroed memory that processes share by inheriting a descriptor: a memfd, which no name in any
/// file system ever points to and which goes with its last user. Pages exist once they are touched.
class segment {
public:
  segment() = default;
  /// A new one. \throws error `errc::resource`
  static segment create(const char* label, std::size_t bytes);
  /// One made by another process. \throws error `errc::bootstrap`
  static segment attach(muster::descriptor of);

  segment(segment&& other) noexcept
      : descriptor_(std::move(other.descriptor_)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  segment& operator=(segment&& other) noexcept {
    descriptor_ = std::move(other.descriptor_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~segment();

  int descriptor() const noexcept { return descriptor_.get(); }
  std::byte* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Makes a part of it zero again, which nobody uses.
  void clear(std::span<std::byte> part) const noexcept;

private:
  segment(muster::descriptor of, std::size_t bytes);
  /// The same where few of its pages exist, which stay. False: there are more, or that is not
  /// known.
  bool clear_pages(std::span<std::byte> part) const noexcept;

  muster::descriptor descriptor_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A stretch of one.
struct segment_part {
  const segment* of;  ///< outlives this
  std::span<std::byte> bytes;
};

}  // namespace muster::shm
