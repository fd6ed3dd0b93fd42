#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "transports/verbs/notice.hpp"
#include "transports/verbs/packet_ring.hpp"

namespace muster::verbs {

/// The stream of frames to a peer, in packets: what the peer has not consumed is kept, since it may
/// have to be written again. A packet lies in one piece; where it does not fit before the end of
/// the ring, a gap goes before it.
class outgoing_stream {
public:
  /// A packet, which frames can be put into.
  struct packet {
    std::uint64_t at;
    std::uint32_t bytes;
  };

  /// \param in its memory outlives this
  explicit outgoing_stream(const packet_ring& in) noexcept : in_(in) {}

  /// Whether a packet with so many bytes of frames fits.
  bool has_room(std::size_t bytes) const noexcept;
  /// Puts frames, all in one packet, behind the others; they fit.
  packet add(std::initializer_list<std::span<const std::byte>> frames) noexcept;
  /// To be filled in when the packet is posted.
  packet_head& head(std::uint64_t at) const noexcept {
    return *reinterpret_cast<packet_head*>(in_.at(at));
  }
  std::span<std::byte> bytes_of(const packet& one) const noexcept {
    return {in_.at(one.at), one.bytes};
  }
  /// The peer has. False: it cannot have.
  bool note_consumed(std::uint64_t consumed) noexcept;
  std::uint64_t consumed() const noexcept { return begin_; }
  bool is_consumed(std::uint64_t at) const noexcept { return at < begin_; }

private:
  static std::size_t length_of(std::size_t frames) noexcept;
  std::size_t gap_before(std::size_t length) const noexcept;

  packet_ring in_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace muster::verbs
