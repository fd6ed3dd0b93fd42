#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transports/verbs/control.hpp"
#include "transports/verbs/queue_pair.hpp"
#include "transports/verbs/ring_queue.hpp"

namespace muster::stream {
class link;
}

namespace muster::verbs {

/// A part of a long message, which one request writes.
struct piece {
  stream::link* by = nullptr;  ///< null: there is none, or nobody wants it any more
  std::uint64_t body = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What was posted, or is to be: a packet, and before it a piece of a long message whose landing
/// the packet tells.
struct posting {
  std::uint64_t at = 0;       ///< the packet, in the stream
  std::uint32_t bytes = 0;    ///< of it; 0: there is none
  std::uint32_t landing = 0;  ///< where in it the landing is told; 0: nowhere
  piece before;
  std::uint64_t requests = 0;  ///< of the queue pair, up to its last
};

/// One queue pair of a connection, between two ports, and what is under way by it.
struct subflow {
  enum class state : std::uint8_t {
    none,
    offered,  ///< the peer was told of it, and has made none yet
    joined,   ///< it is connected; the peer may not be ready
    tried,    ///< a first request is under way, since the last queue pair here was lost
    open,
    stopped,  ///< the peer has not said yet what came by it
  };
  using moment = std::chrono::steady_clock::time_point;

  state is = state::none;
  bool is_peer_ready = false;
  bool was_lost = false;  ///< the last one
  moment retry{};         ///< no other is made before
  std::string why_lost;
  std::uint32_t number = 0;  ///< by which completions name it
  std::optional<queue_pair> pair;
  queue_pair_offer peer{};

  // Requests, ever: posted, and those known to be complete.
  std::uint64_t posted = 0;
  std::uint64_t complete = 0;
  std::uint64_t last_signalled = 0;
  // Notices, ever: to the peer, those of them that it has taken, as far as known; from the peer,
  // and what it was told of them.
  std::uint32_t notices = 0;
  std::uint32_t taken_there = 0;
  std::uint32_t taken = 0;
  std::uint32_t told = 0;
  std::uint32_t receives_owed = 0;  ///< taken, and not posted anew yet
  std::size_t pieces = 0;           ///< under way
  ring_queue<posting> under_way;

  bool can_post() const noexcept { return is == state::open; }
  /// For a piece and its packet.
  bool has_room() const noexcept { return posted - complete + 2 <= queue_pair::sends; }
  /// Some are kept for credits, which free them at the other side: a peer owes four at most for the
  /// notices that can be under way to it.
  bool may_notify() const noexcept {
    constexpr std::uint32_t kept = 16;
    return notices - taken_there < queue_pair::receives - kept;
  }
  /// Of the notices taken: those whose receive is there again.
  std::uint32_t posted_again() const noexcept { return taken - receives_owed; }
  /// Whether the peer should be told of them.
  bool owes_credit() const noexcept { return posted_again() - told >= queue_pair::receives / 4; }
  bool has_piece_of(const stream::link& by) const noexcept {
    for (std::size_t i = 0; i < under_way.size(); ++i) {
      if (under_way.at(i).before.by == &by) return true;
    }
    return false;
  }
  void begin() noexcept {
    posted = complete = last_signalled = 0;
    notices = taken_there = taken = told = receives_owed = 0;
    pieces = 0;
  }
};

}  // namespace muster::verbs
