#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::verbs {

/// The immediate value of a write: what it has brought.
struct notice {
  enum class kind : std::uint32_t {
    packet,  ///< bytes of the stream of frames
    credit,  ///< word of what has come the other way
    nothing,
  };

  /// Packets begin and end at multiples of so many bytes.
  static constexpr std::size_t unit = 8;
  static constexpr unsigned position_bits = 16;
  static constexpr unsigned length_bits = 14;
  /// Positions count modulo this, which is at least twice what the ring of a stream holds: so what
  /// came twice is told from what comes next.
  static constexpr std::uint64_t positions = std::uint64_t{1} << position_bits;

  kind what = kind::nothing;
  std::uint32_t position = 0;  ///< of a packet, in units
  std::uint32_t length = 0;    ///< likewise

  static notice of_packet(std::uint64_t at, std::size_t bytes) noexcept {
    return {kind::packet, static_cast<std::uint32_t>(at / unit % positions),
            static_cast<std::uint32_t>(bytes / unit)};
  }
  static notice of(std::uint32_t immediate) noexcept {
    return {static_cast<kind>(immediate >> (position_bits + length_bits)),
            immediate >> length_bits & ((1U << position_bits) - 1),
            immediate & ((1U << length_bits) - 1)};
  }
  std::uint32_t immediate() const noexcept {
    return static_cast<std::uint32_t>(what) << (position_bits + length_bits) |
           position << length_bits | length;
  }
};

/// What goes before the frames of a packet.
struct packet_head {
  std::uint64_t consumed;  ///< of the stream the other way, in bytes, ever
  std::uint32_t received;  ///< notices that have come the other way by this queue pair, ever
  std::uint32_t gap;       ///< bytes between the packet before it and this one
  std::uint32_t bytes;     ///< of frames
  std::uint32_t unused = 0;
};

/// What a rank writes into its peer's memory where it has no packet for it: a packet's head without
/// the packet.
struct credit {
  std::uint64_t consumed;
  std::uint32_t received;
  std::uint32_t unused = 0;
};

}  // namespace muster::verbs
