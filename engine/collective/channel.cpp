// Channels: what ranks of different nodes say to each other, in order.

#include "engine/collective/context.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace muster {
namespace {

/// What goes before each message: who sends it, by fingerprint, and how long it is.
struct message_header {
  std::uint64_t word;
  std::uint64_t bytes;
};

void copy_in(wire::ring& to, std::uint64_t at, std::span<const std::byte> bytes) noexcept {
  const std::size_t start = at % wire::ring::capacity;
  const std::size_t first = std::min(bytes.size(), wire::ring::capacity - start);
  std::memcpy(to.data.data() + start, bytes.data(), first);
  std::memcpy(to.data.data(), bytes.data() + first, bytes.size() - first);
}

void copy_out(const wire::ring& from, std::uint64_t at, std::span<std::byte> bytes) noexcept {
  const std::size_t start = at % wire::ring::capacity;
  const std::size_t first = std::min(bytes.size(), wire::ring::capacity - start);
  std::memcpy(bytes.data(), from.data.data() + start, first);
  std::memcpy(bytes.data() + first, from.data.data(), bytes.size() - first);
}

// Pieces half as long as the ring keep both ends busy at once.
constexpr std::size_t ring_piece = wire::ring::capacity / 2;

}  // namespace

task<> context::deliver(std::size_t to, std::span<const std::byte> bytes) {
  wire::ring& ring = fabric().channel(ticket_.lane, rank(), to);
  // relaxed: only this rank writes it.
  std::uint64_t at = ring.written.load(std::memory_order_relaxed);
  const message_header header{ticket_.word, bytes.size()};
  co_await counter_wait(*this, ring.read, at + sizeof header - wire::ring::capacity, to);
  copy_in(ring, at, std::as_bytes(std::span(&header, 1)));
  at += sizeof header;
  if (bytes.empty()) fabric().announce(ring.written, at);
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), ring_piece);
    co_await counter_wait(*this, ring.read, at + now - wire::ring::capacity, to);
    copy_in(ring, at, bytes.first(now));
    at += now;
    fabric().announce(ring.written, at);
    bytes = bytes.subspan(now);
  }
}

task<> context::expect(std::size_t from, std::span<std::byte> bytes) {
  wire::ring& ring = fabric().channel(ticket_.lane, from, rank());
  // relaxed: only this rank writes it.
  std::uint64_t at = ring.read.load(std::memory_order_relaxed);
  message_header header;
  co_await counter_wait(*this, ring.written, at + sizeof header, from);
  copy_out(ring, at, std::as_writable_bytes(std::span(&header, 1)));
  at += sizeof header;
  if (header.word != ticket_.word || header.bytes != bytes.size()) {
    if (auto why = mismatch(from)) throw *why;
    throw error(errc::mismatched_call,
                "rank " + std::to_string(from) + " sent " + std::to_string(header.bytes) +
                    " bytes where rank " + std::to_string(rank()) + " expected " +
                    std::to_string(bytes.size()) + " in " + describe(),
                from);
  }
  if (bytes.empty()) fabric().announce(ring.read, at);
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), ring_piece);
    co_await counter_wait(*this, ring.written, at + now, from);
    copy_out(ring, at, bytes.first(now));
    at += now;
    fabric().announce(ring.read, at);
    bytes = bytes.subspan(now);
  }
}

}  // namespace muster
