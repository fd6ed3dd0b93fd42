#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::stream {

/// Bits of `frame::taken`: enough, since windows are shorter.
inline constexpr std::uint64_t taken_bits = (std::uint64_t{1} << 24) - 1;

/// What goes before everything that one rank says to another.
struct frame {
  enum class kind : std::uint32_t {
    message,     ///< bytes of a link
    invitation,  ///< of a link, to send a long message
    body,        ///< bytes of a long message, into the place that its link posted first
    consumed,    ///< says what was `taken`, and nothing else
    placed,      ///< the next body that was put has left its sender's memory
    refused,     ///< the same, but it could not be copied
    news,        ///< of the sender or the team itself, for `newsreader`
    landed,      ///< its sender has written a part of a long message into its place: a `landing`
  };

  std::uint64_t team;  ///< its number in the job
  std::uint32_t from;  ///< the sender, as a rank of the team
  std::uint32_t lane;
  kind what : 8;
  /// Bytes of messages that its sender has taken off the link, ever: the last bits of that.
  std::uint32_t taken : 24;
  std::uint32_t bytes;  ///< that follow
};

/// What follows a frame of kind `landed`.
struct landing {
  std::uint64_t body;  ///< how many its link has put before
  std::uint64_t bytes;
};

}  // namespace muster::stream
