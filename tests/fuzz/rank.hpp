#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tests/fuzz/conversation.hpp"
#include "tests/fuzz/input.hpp"
#include "transports/stream/connections.hpp"
#include "transports/tcp/endpoint.hpp"

namespace muster::fuzz {

/// Rank 0 of two, whose peer has proved that it knows the key, and now says what an input tells it
/// to. Its connection has one subflow or several.
///
/// An input is a list of acts: a byte of `act`, then what that act reads. Some are the peer's,
/// others are the rank's own, so that an input decides in which order they come.
class rank {
public:
  explicit rank(std::size_t subflows);
  rank(const rank&) = delete;
  rank& operator=(const rank&) = delete;

  /// Does all that the input says. Then the peer goes, and the rank has to notice.
  void live(input& in);

private:
  enum class act : std::uint8_t {
    bytes,      ///< the peer says as it stands: u8 subflow, u16 how many, bytes
    frames,     ///< the same as the next packet of the stream of frames
    consumed,   ///< the peer's packets tell of u16 more bytes that it has consumed
    turn,       ///< `conversation::turn`
    receive,    ///< u16 bytes
    send,       ///< u16 bytes
    post,       ///< u16 bytes
    take,       ///< `conversation::take`
    put,        ///< u16, of 16 bytes each
    next_team,  ///< the team ends, and the next one begins
    end,   ///< the peer says nothing more: u8 subflow, of its upper half whether it hears either
    open,  ///< u8 subflow is made, or made anew
    hear,  ///< the rank looks for all that was said
    count,
  };
  /// Looks at what it is told, as those of a job do.
  struct reader final : stream::newsreader {
    void read(std::size_t peer, const stream::frame& head,
              std::span<const std::byte> bytes) override;
  };

  void do_next(input& in);
  std::size_t subflow_of(std::uint8_t number) const noexcept { return number % ends_.size(); }
  void say_bytes(input& in);
  void say_frames(input& in);
  void end(std::uint8_t how);
  void open(std::size_t subflow);
  void begin_team();
  void progress();
  void let_peer_go();

  reader reader_;
  tcp::endpoint reach_;
  stream::connections all_;
  std::vector<std::size_t> members_{0, 1};  // where what lies beside is found
  tcp::peer_connection& connection_;
  std::vector<descriptor> ends_;  // the peer's
  std::vector<bool> has_ended_;
  std::uint64_t said_ = 0;  // by the peer, of its stream of frames
  std::uint64_t consumed_ = 0;
  std::uint64_t team_ = 0;
  std::optional<conversation> talk_;
};

}  // namespace muster::fuzz
