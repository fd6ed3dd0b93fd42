#pragma once

#include <cstddef>
#include <utility>

namespace muster::shm {

/// Zeroed memory that processes share by inheriting a descriptor: a memfd, which no name in any
/// file system ever points to and which goes with its last user. Pages exist once they are touched.
class segment {
public:
  segment() = default;
  /// A new one. \throws error `errc::resource`
  static segment create(const char* label, std::size_t bytes);
  /// One made by another process; takes ownership of the descriptor. \throws error
  /// `errc::bootstrap`
  static segment attach(int descriptor);

  segment(segment&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  segment& operator=(segment&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~segment();

  int descriptor() const noexcept { return descriptor_; }
  std::byte* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

private:
  segment(int descriptor, std::size_t bytes);

  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace muster::shm
