#include "transports/shm/ring.hpp"

#include <algorithm>

#include <muster/base/copy_bytes.hpp>

#include "transports/shm/parking.hpp"

namespace muster::shm {
namespace {

constexpr std::size_t capacity = wire::link::capacity;

void copy_in(ring& to, std::uint64_t at, std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const std::size_t start = at % capacity;
  const std::size_t first = std::min(bytes.size(), capacity - start);
  copy_bytes(to.data.data() + start, bytes.data(), first);
  copy_bytes(to.data.data(), bytes.data() + first, bytes.size() - first);
}

void copy_out(const ring& from, std::uint64_t at, std::span<std::byte> bytes) noexcept {
  const std::size_t start = at % capacity;
  const std::size_t first = std::min(bytes.size(), capacity - start);
  copy_bytes(bytes.data(), from.data.data() + start, first);
  copy_bytes(bytes.data() + first, from.data.data(), bytes.size() - first);
}

}  // namespace

// A rank's own end of the ring is loaded relaxed: only this rank writes it. The other end is
// loaded with acquire, which pairs with the release in `parking::announce`.

bool ring_writer::has_taken(std::uint64_t bytes) const noexcept {
  if (read_so_far_ >= bytes) return true;
  // acquire: the receiver reads before it says so.
  read_so_far_ = ring_.read.load(std::memory_order_acquire);
  return read_so_far_ >= bytes;
}

std::uint64_t ring_writer::written() const noexcept {
  return ring_.written.load(std::memory_order_relaxed);
}

bool ring_writer::has_room(std::size_t bytes) const noexcept {
  const std::uint64_t end = written() + bytes;
  return end <= capacity || has_taken(end - capacity);
}

void ring_writer::write(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  const std::uint64_t at = written();
  copy_in(ring_, at, head);
  copy_in(ring_, at + head.size(), body);
  parking_.announce(ring_.written, at + head.size() + body.size());
}

bool ring_writer::was_refused(std::uint64_t upto) const noexcept {
  // relaxed: `has_taken` has synchronised.
  return ring_.refused.load(std::memory_order_relaxed) == upto;
}

bool ring_reader::holds(std::size_t bytes) const noexcept {
  return ring_.written.load(std::memory_order_acquire) -
             ring_.read.load(std::memory_order_relaxed) >=
         bytes;
}

void ring_reader::peek(std::span<std::byte> to) const noexcept {
  copy_out(ring_, ring_.read.load(std::memory_order_relaxed), to);
}

void ring_reader::take(std::span<std::byte> to) noexcept {
  peek(to);
  parking_.announce(ring_.read, ring_.read.load(std::memory_order_relaxed) + to.size());
}

void ring_reader::pass(std::size_t bytes, bool is_copied) noexcept {
  const std::uint64_t end = ring_.read.load(std::memory_order_relaxed) + bytes;
  // relaxed: published with `read`.
  if (!is_copied) ring_.refused.store(end, std::memory_order_relaxed);
  parking_.announce(ring_.read, end);
}

}  // namespace muster::shm
