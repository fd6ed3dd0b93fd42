#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/fixed_text.hpp>

namespace muster::verbs {

/// Where a queue pair is reached.
struct queue_pair_address {
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  ///< the sequence number that it begins with
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;
};

/// Memory that a peer may write into.
struct remote_memory {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

/// What ranks say by the sockets of their pair, to arrange its queue pairs.
struct control {
  enum class kind : std::uint16_t {
    offer,      ///< a queue pair was made: `queue_pair_offer`
    ready,      ///< it can receive
    decline,    ///< none can be made: why, as text
    stopped,    ///< nothing more comes by it, and nothing more is taken: `arrived_report`
    withdraw,   ///< the peer shall write no more where a link has posted: `link_name`
    withdrawn,  ///< nor will it: `link_name`
    heard       ///< says what was heard, and nothing else
  };
  static constexpr std::uint32_t longest = 1 << 16;

  std::uint64_t number;  ///< of this message, of those to this peer
  std::uint64_t heard;   ///< messages from it, by then
  kind what;
  std::uint16_t subflow;
  std::uint32_t bytes;  ///< that follow
};

struct queue_pair_offer {
  queue_pair_address at;
  remote_memory stream;        ///< the ring that takes the peer's packets
  remote_memory credits;       ///< a `credit` for each subflow
  std::uint64_t capacity = 0;  ///< of the ring
};

/// What came by a queue pair, so that the rest may go by another.
struct arrived_report {
  fixed_text<96> why;  ///< it was stopped; empty: it is not needed now
  std::uint64_t consumed = 0;
  std::uint64_t packets = 0;  ///< that came and were not consumed: where they begin follows
};

struct link_name {
  std::uint64_t team = 0;
  std::uint32_t from = 0;  ///< who says so, as a rank of the team
  std::uint32_t lane = 0;

  bool operator==(const link_name&) const = default;
};

}  // namespace muster::verbs
