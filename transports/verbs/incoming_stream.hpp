#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transports/verbs/notice.hpp"
#include "transports/verbs/packet_ring.hpp"
#include "transports/verbs/ring_queue.hpp"

namespace muster::verbs {

/// The stream of frames from a peer: packets that have come, put in order, of which frames are
/// taken. What came twice is left out.
class incoming_stream {
public:
  /// \param in its memory outlives this
  explicit incoming_stream(const packet_ring& in) noexcept : in_(in) {}

  /// A packet has come. \returns its head; nothing: it cannot be
  std::optional<packet_head> note(const notice& what);
  /// Bytes of the packet that is being taken, which begins where there was none.
  std::size_t unread() noexcept;
  /// Whether more has come than so many bytes of that packet.
  bool has_more_than(std::size_t bytes) const noexcept {
    return left_ > bytes || !in_order_.empty();
  }
  void peek(std::span<std::byte> to) const noexcept;
  void skip(std::size_t bytes) noexcept;
  /// Bytes, ever, of packets taken whole.
  std::uint64_t consumed() const noexcept { return begin_; }
  /// Nothing more is to be taken.
  void clear() noexcept;
  /// Where packets begin that came and were not consumed.
  std::vector<std::uint64_t> arrived() const;

private:
  /// As its head was when it came: the peer could change that afterwards.
  struct packet {
    std::uint64_t at;
    std::uint32_t length;
    std::uint32_t gap;
    std::uint32_t bytes;  ///< of frames
  };

  std::uint64_t position_of(const notice& what) const noexcept;
  /// Whether it holds whole frames, and nothing else.
  bool is_sane(const packet& one) const noexcept;
  void put_in_order(const packet& one);

  packet_ring in_;
  std::uint64_t begin_ = 0;      // what was taken
  std::uint64_t order_end_ = 0;  // of the packets in order
  ring_queue<packet> in_order_;
  std::vector<packet> ahead_;  // ascending, that came before what comes before them
  packet taking_{};
  std::uint64_t next_ = 0;  // byte to take
  std::size_t left_ = 0;    // of the packet's frames
};

}  // namespace muster::verbs
