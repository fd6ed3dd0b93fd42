#pragma once

#include <cstddef>
#include <span>

namespace muster::wire {

/// The bytes that one rank sends to another in a lane, in order. Both sides know from the
/// collective what comes, so there are no tags; what does not fit yet waits for room.
///
/// Each side's calls come from the thread that drives that rank's engine.
class channel {
public:
  /// Bytes that may be on their way at once.
  static constexpr std::size_t capacity = 64 * 1024;
  /// The longest head of a put.
  static constexpr std::size_t most_head = 16;

  // ---- at the sender

  /// Whether `bytes` more can be put. Sooner or later there is room for half of `capacity` and a
  /// head; for more there need not be.
  virtual bool has_room(std::size_t bytes) const noexcept = 0;
  /// Sends `head`, at most `most_head` bytes, then `body`; there is room for both. The receiver
  /// sees both at once.
  virtual void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept = 0;
  /// Whether what was put has left this rank's memory, which may then be changed.
  virtual bool has_left() const noexcept = 0;

  // ---- at the receiver

  /// Whether `bytes` have come that were not taken.
  virtual bool holds(std::size_t bytes) const noexcept = 0;
  /// Receives the next bytes, which have come.
  virtual void take(std::span<std::byte> to) noexcept = 0;

protected:
  ~channel() = default;
};

}  // namespace muster::wire
