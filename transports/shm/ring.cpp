#include "transports/shm/ring.hpp"

#include <algorithm>

#include <muster/base/copy_bytes.hpp>

#include "transports/shm/parking.hpp"

namespace muster::shm {

// A rank's own end of the ring is loaded relaxed: only this rank writes it. The other end is
// loaded with acquire, which pairs with the release in `parking::announce`.

bool ring_writer::has_room(std::size_t bytes) const noexcept {
  const std::uint64_t end = ring_.written.load(std::memory_order_relaxed) + bytes;
  if (end <= read_so_far_ + capacity_) return true;
  // acquire: the receiver reads before it says so.
  read_so_far_ = ring_.read.load(std::memory_order_acquire);
  return end <= read_so_far_ + capacity_;
}

void ring_writer::write(std::initializer_list<std::span<const std::byte>> pieces) noexcept {
  std::uint64_t at = ring_.written.load(std::memory_order_relaxed);
  for (const std::span<const std::byte> bytes : pieces) {
    if (bytes.empty()) continue;
    const std::size_t start = at % capacity_;
    const std::size_t first = std::min(bytes.size(), capacity_ - start);
    copy_bytes(ring_.data() + start, bytes.data(), first);
    copy_bytes(ring_.data(), bytes.data() + first, bytes.size() - first);
    at += bytes.size();
  }
  parking_.announce(ring_.written, at);
}

std::size_t ring_reader::unread() const noexcept {
  return static_cast<std::size_t>(ring_.written.load(std::memory_order_acquire) - at_);
}

void ring_reader::peek(std::span<std::byte> to) const noexcept {
  const std::size_t start = at_ % capacity_;
  const std::size_t first = std::min(to.size(), capacity_ - start);
  copy_bytes(to.data(), ring_.data() + start, first);
  copy_bytes(to.data() + first, ring_.data(), to.size() - first);
}

void ring_reader::give_back() noexcept {
  if (given_back_ == at_) return;
  given_back_ = at_;
  parking_.announce(ring_.read, at_);
}

}  // namespace muster::shm
