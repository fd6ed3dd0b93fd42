#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <muster/base/copy_bytes.hpp>

namespace muster::tcp {

/// Bytes on their way from or to a socket, in order.
class byte_ring {
public:
  /// \param capacity a power of two
  explicit byte_ring(std::size_t capacity)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity)), capacity_(capacity) {}

  std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
  std::size_t room() const noexcept { return capacity_ - size(); }
  std::size_t capacity() const noexcept { return capacity_; }
  // Where its bytes begin and end, counted from the first that was ever in it.
  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }

  void write(std::span<const std::byte> from) noexcept {
    each_part(end_, from.size(), [&, done = std::size_t{0}](std::span<std::byte> part) mutable {
      copy_bytes(part.data(), from.data() + done, part.size());
      done += part.size();
    });
    end_ += from.size();
  }
  void peek(std::span<std::byte> to) const noexcept {
    each_part(begin_, to.size(), [&, done = std::size_t{0}](std::span<std::byte> part) mutable {
      copy_bytes(to.data() + done, part.data(), part.size());
      done += part.size();
    });
  }
  void skip(std::size_t bytes) noexcept { begin_ += bytes; }
  /// So many were put behind its end.
  void extend(std::size_t bytes) noexcept { end_ += bytes; }

  /// Where the bytes lie: one part or two, the second perhaps empty.
  std::array<iovec, 2> parts() const noexcept { return parts_of(begin_, size()); }
  /// Where bytes lie, or will, that are within its capacity of its beginning.
  std::array<iovec, 2> parts_of(std::uint64_t at, std::size_t bytes) const noexcept {
    const std::size_t start = at % capacity_;
    const std::size_t first = std::min(bytes, capacity_ - start);
    return {iovec{bytes_.get() + start, first}, iovec{bytes_.get(), bytes - first}};
  }

private:
  template <class Use>
  void each_part(std::uint64_t at, std::size_t bytes, Use use) const noexcept {
    for (const iovec& part : parts_of(at, bytes)) {
      use(std::span(static_cast<std::byte*>(part.iov_base), part.iov_len));
    }
  }
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace muster::tcp
