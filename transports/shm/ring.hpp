#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/wire/board.hpp>
#include <muster/wire/link.hpp>

namespace muster::shm {

class parking;

/// What a ring of a pair carries: messages, or invitations to send some.
enum class stream : std::size_t { messages, invitations };
inline constexpr std::size_t streams = 2;

/// A one-way byte stream between two ranks, in memory that both have mapped.
struct ring {
  alignas(wire::cache_line) wire::counter written;  ///< bytes the sender has put in, ever
  alignas(wire::cache_line) wire::counter read;     ///< bytes the receiver has taken out, ever
  wire::counter refused;  ///< what `read` became with the last body that could not be copied
  /// In the list of those that are free, or of a team's: number + 1 of the next.
  alignas(wire::cache_line) std::atomic<std::uint32_t> next;
  alignas(wire::cache_line) std::array<std::byte, wire::link::capacity> data;
};

/// The sender's end of a ring.
class ring_writer {
public:
  /// \param by outlives this
  ring_writer(const parking& by, ring& to) noexcept : parking_(by), ring_(to) {}

  bool has_room(std::size_t bytes) const noexcept;
  void write(std::span<const std::byte> head, std::span<const std::byte> body) noexcept;
  std::uint64_t written() const noexcept;
  /// Whether the receiver is known to have taken so many bytes, ever.
  bool has_taken(std::uint64_t bytes) const noexcept;
  bool was_refused(std::uint64_t upto) const noexcept;

private:
  const parking& parking_;
  ring& ring_;
  // What it last saw, since a look takes the line from the receiver.
  mutable std::uint64_t read_so_far_ = 0;
};

/// The receiver's end.
class ring_reader {
public:
  ring_reader(const parking& by, ring& from) noexcept : parking_(by), ring_(from) {}

  bool holds(std::size_t bytes) const noexcept;
  void peek(std::span<std::byte> to) const noexcept;
  void take(std::span<std::byte> to) noexcept;
  /// The same of what is only an address: `is_copied` tells whether it was any use.
  void pass(std::size_t bytes, bool is_copied) noexcept;

private:
  const parking& parking_;
  ring& ring_;
};

}  // namespace muster::shm
