#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <muster/wire/board.hpp>

namespace muster::shm {

class parking;

/// A one-way byte stream between two ranks, in memory that both have mapped; the bytes follow.
struct ring {
  alignas(wire::cache_line) wire::counter written;  ///< bytes the sender has put in, ever
  alignas(wire::cache_line) wire::counter read;     ///< bytes the receiver has taken out, ever

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// The sender's end of a ring.
class ring_writer {
public:
  /// \param by       outlives this
  /// \param capacity of the ring, in bytes
  ring_writer(const parking& by, ring& to, std::size_t capacity) noexcept
      : parking_(by), ring_(to), capacity_(capacity) {}

  bool has_room(std::size_t bytes) const noexcept;
  /// Some bytes one after the other, for which there is room; the receiver sees all at once.
  void write(std::initializer_list<std::span<const std::byte>> pieces) noexcept;

private:
  const parking& parking_;
  ring& ring_;
  std::size_t capacity_;
  // What it last saw, since a look takes the line from the receiver.
  mutable std::uint64_t read_so_far_ = 0;
};

/// The receiver's end. What it has taken it gives back to the sender when it says so.
class ring_reader {
public:
  ring_reader(const parking& by, ring& from, std::size_t capacity) noexcept
      : parking_(by), ring_(from), capacity_(capacity) {}

  /// How many bytes can be taken.
  std::size_t unread() const noexcept;
  void peek(std::span<std::byte> to) const noexcept;
  void skip(std::size_t bytes) noexcept { at_ += bytes; }
  /// The sender may use the room of all that was skipped.
  void give_back() noexcept;

private:
  const parking& parking_;
  ring& ring_;
  std::size_t capacity_;
  std::uint64_t at_ = 0;
  std::uint64_t given_back_ = 0;
};

}  // namespace muster::shm
