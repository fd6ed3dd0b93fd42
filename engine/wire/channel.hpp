#pragma once

#include <cstddef>
#include <span>

namespace muster::wire {

/// What a channel carries: messages, or a receiver's *invitations* to send it one, which tell that
/// it is there and where the bytes may go.
enum class stream : std::size_t { messages, invitations };
inline constexpr std::size_t streams = 2;

/// The bytes that one rank sends to another in a lane, in order. Both sides know from the
/// collective what comes, so there are no tags; what does not fit yet waits for room.
///
/// Each side's calls come from the thread that drives that rank's engine.
class channel {
public:
  /// Bytes that may be on their way at once.
  static constexpr std::size_t capacity = 64 * 1024;
  /// The longest head of a put.
  static constexpr std::size_t most_head = 64;

  // ---- at the sender

  /// Whether `bytes` more can be put. Sooner or later there is room for half of `capacity` and a
  /// head; for more there need not be.
  virtual bool has_room(std::size_t bytes) const noexcept = 0;
  /// Sends `head`, at most `most_head` bytes, then `body`; there is room for both. The receiver
  /// sees both at once.
  virtual void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept = 0;
  /// Sends `head`, then `body` straight to where the receiver wants it, past the channel; there is
  /// room for `zero_copy_room` bytes. It is much like lending: what `body` shows is read until it
  /// `has_left`.
  virtual void put_zero_copy(std::span<const std::byte> head,
                             std::span<const std::byte> body) noexcept = 0;
  /// Room that it takes whatever the length of the body.
  static constexpr std::size_t zero_copy_room = 64;
  /// Whether what was put has left this rank's memory, which may then be changed.
  virtual bool has_left() const noexcept = 0;
  /// Of a zero-copy body that has left: whether the receiver was not allowed to take it.
  virtual bool was_refused() const noexcept = 0;

  // ---- at the receiver

  /// Whether `bytes` have come that were not taken.
  virtual bool holds(std::size_t bytes) const noexcept = 0;
  /// Reads the head of the next put, whose bytes have come, and leaves it there.
  virtual void peek(std::span<std::byte> head) const noexcept = 0;
  /// Receives the next bytes, which have come.
  virtual void take(std::span<std::byte> to) noexcept = 0;
  /// After the head of a zero-copy message: the body is in `place` after this.
  /// False where the system refuses: the body is lost, and the sender finds that it `was_refused`.
  /// Called between `begin_reading` and `end_reading`, since the sender may be about to take its
  /// memory back.
  [[nodiscard]] virtual bool take_zero_copy(std::span<std::byte> place) noexcept = 0;

protected:
  ~channel() = default;
};

}  // namespace muster::wire
