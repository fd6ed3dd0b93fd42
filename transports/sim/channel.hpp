#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/wire/cache_line.hpp>
#include <muster/wire/link.hpp>

#include "transports/sim/clock.hpp"

namespace muster::sim {

class channel;
class simulation;

/// A pair has a channel for messages, and one for invitations to send some.
inline constexpr std::size_t kinds_of_channel = 2;

/// A put on its way: some consecutive bytes of a channel. The network needs its first cache line
/// alone.
struct alignas(wire::cache_line) message {
  channel* on = nullptr;
  std::uint64_t from_byte = 0;  ///< of all that the channel ever carried
  std::size_t bytes = 0;        ///< head and body
  std::size_t rail = 0;
  std::uint64_t number = 0;  ///< of all messages, for the trace
  message* next = nullptr;   ///< in the channel's inbox, or among those free
  std::uint32_t from = 0;    ///< ranks
  std::uint32_t to = 0;
  std::uint32_t head_bytes = 0;
  bool zero_copy = false;     ///< the body goes past the channel
  bool leaves_later = false;  ///< its sender's memory is read by the interface
  std::array<std::byte, wire::link::most_head> head{};
  // Where payload is carried:
  std::vector<std::byte> body;
  const std::byte* source = nullptr;  ///< where the sender has the body

  std::uint64_t end_byte() const noexcept { return from_byte + bytes; }
};

/// What one rank sends another in a lane, and both its ends. Messages may arrive in any order, and
/// more than once; its receiver sees each byte once and in order. Recycled when nothing is on its
/// way and nobody uses it.
class alignas(wire::cache_line) channel {
public:
  static constexpr std::size_t capacity = wire::link::capacity;

  struct pair {
    std::size_t lane;
    std::size_t from;
    std::size_t to;
    std::uint64_t team = 0;  ///< its number; 0: the job's
    wire::coming what = wire::coming::message;
  };

  explicit channel(simulation& in) noexcept : in_(in) {}

  const pair& of() const noexcept { return of_; }
  void begin(const pair& of) noexcept;
  void end() noexcept { begun_ = false; }
  void used() noexcept { ++users_; }
  void unused() noexcept { --users_; }
  /// Whether it can end, to begin anew for another pair.
  bool is_idle() const noexcept {
    return begun_ && users_ == 0 && under_way_ == 0 && inbox_ == nullptr && taken_ == sent_;
  }

  // ---- at the sender
  bool has_room(std::size_t bytes) const noexcept { return sent_ - credited_ + bytes <= capacity; }
  void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept;
  void put_zero_copy(std::span<const std::byte> head, std::span<const std::byte> body) noexcept;
  bool has_left() const noexcept { return leaving_ == 0; }

  // ---- at the receiver

  bool holds(std::size_t bytes) const noexcept { return arrived_ - taken_ >= bytes; }
  void peek(std::span<std::byte> head) const noexcept;
  void take(std::span<std::byte> to) noexcept;
  /// Are told when something can be taken.
  wire::listeners& listeners() noexcept { return listeners_; }

  // ---- events
  /// True if the receiver can now see more.
  bool deliver(message& one) noexcept;
  /// It does not arrive.
  void lose(message& one) noexcept;
  /// A message counts as under way from its posting until `deliver` or a sender's `leave`, each.
  void post() noexcept { ++under_way_; }
  void leave() noexcept {
    --leaving_;
    --under_way_;
  }
  /// Keeps what a message's sender must not change before it has left.
  void hold(const message& one);
  /// Gives up what was held of the message that begins at this byte.
  void let_go(std::uint64_t from_byte);
  /// Whether the sender still has it as it was.
  bool is_unchanged(std::uint64_t from_byte) const;
  /// Credit may overtake credit.
  void credit(std::uint64_t upto) noexcept {
    credited_ = std::max(credited_, upto);
    --under_way_;
  }

private:
  void send(std::span<const std::byte> head, std::span<const std::byte> body, bool zero_copy);
  void take_from(message& first, std::span<std::byte> to, std::size_t skipped) noexcept;
  void return_credit() noexcept;

  simulation& in_;
  pair of_{};
  unsigned users_ = 0;
  unsigned under_way_ = 0;
  unsigned leaving_ = 0;
  bool begun_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t arrived_ = 0;  // all bytes before it have
  std::uint64_t taken_ = 0;
  std::uint64_t returned_ = 0;  // credit on its way or there
  std::uint64_t credited_ = 0;  // known to the sender
  message* inbox_ = nullptr;    // by from_byte
  wire::listeners listeners_;
  struct held_body {
    std::uint64_t from_byte;
    const std::byte* source;
    std::vector<std::byte> bytes;
  };
  std::vector<held_body> held_;
};

}  // namespace muster::sim
