#include "transports/shm/ring.hpp"

#include <algorithm>

#include <muster/base/copy_bytes.hpp>

namespace muster::shm {
namespace {

void copy_in(ring& to, std::uint64_t at, std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const std::size_t start = at % wire::channel::capacity;
  const std::size_t first = std::min(bytes.size(), wire::channel::capacity - start);
  copy_bytes(to.data.data() + start, bytes.data(), first);
  copy_bytes(to.data.data(), bytes.data() + first, bytes.size() - first);
}

void copy_out(const ring& from, std::uint64_t at, std::span<std::byte> bytes) noexcept {
  const std::size_t start = at % wire::channel::capacity;
  const std::size_t first = std::min(bytes.size(), wire::channel::capacity - start);
  copy_bytes(bytes.data(), from.data.data() + start, first);
  copy_bytes(bytes.data() + first, from.data.data(), bytes.size() - first);
}

}  // namespace

// A rank's own end of the ring is loaded relaxed: only this rank writes it. The other end is
// loaded with acquire, which pairs with the release in `announce`.

bool ring_channel::has_taken(std::uint64_t bytes) const noexcept {
  if (read_so_far_ >= bytes) return true;
  // acquire: the receiver reads before it says so.
  read_so_far_ = ring_.read.load(std::memory_order_acquire);
  return read_so_far_ >= bytes;
}

bool ring_channel::has_room(std::size_t bytes) const noexcept {
  const std::uint64_t end = ring_.written.load(std::memory_order_relaxed) + bytes;
  return end <= capacity || has_taken(end - capacity);
}

void ring_channel::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  const std::uint64_t at = ring_.written.load(std::memory_order_relaxed);
  copy_in(ring_, at, head);
  copy_in(ring_, at + head.size(), body);
  fabric_.announce(ring_.written, at + head.size() + body.size());
}

// Memory between the ranks of one machine is read by whoever wants it: the body's address goes into
// the ring, and the receiver copies from there when it takes it.
void ring_channel::put_zero_copy(std::span<const std::byte> head,
                                 std::span<const std::byte> body) noexcept {
  using kind = wire::origin::kind;
  const wire::origin from{.where = ends_.one_process ? kind::process : kind::foreign,
                          .address = reinterpret_cast<std::uint64_t>(body.data())};
  const auto address = std::as_bytes(std::span(&from, 1));
  put(head, address);
  lent_until_ = ring_.written.load(std::memory_order_relaxed);
}

bool ring_channel::has_left() const noexcept { return has_taken(lent_until_); }

bool ring_channel::was_refused() const noexcept {
  // relaxed: `has_left` has synchronised.
  return ring_.refused.load(std::memory_order_relaxed) == lent_until_;
}

bool ring_channel::take_zero_copy(std::span<std::byte> place) noexcept {
  wire::origin from;
  const std::uint64_t at = ring_.read.load(std::memory_order_relaxed);
  copy_out(ring_, at, std::as_writable_bytes(std::span(&from, 1)));
  const std::uint64_t end = at + sizeof from;
  bool is_taken = true;
  if (from.where == wire::origin::kind::process) {
    copy_bytes(place.data(), fabric_.borrow(from), place.size());
  } else {
    is_taken = fabric_.fetch(ends_.from, from, 0, place) == 0;
  }
  // relaxed: published with `read`.
  if (!is_taken) ring_.refused.store(end, std::memory_order_relaxed);
  fabric_.announce(ring_.read, end);
  return is_taken;
}

bool ring_channel::holds(std::size_t bytes) const noexcept {
  return ring_.written.load(std::memory_order_acquire) -
             ring_.read.load(std::memory_order_relaxed) >=
         bytes;
}

void ring_channel::peek(std::span<std::byte> head) const noexcept {
  copy_out(ring_, ring_.read.load(std::memory_order_relaxed), head);
}

void ring_channel::take(std::span<std::byte> to) noexcept {
  const std::uint64_t at = ring_.read.load(std::memory_order_relaxed);
  copy_out(ring_, at, to);
  fabric_.announce(ring_.read, at + to.size());
}

}  // namespace muster::shm
