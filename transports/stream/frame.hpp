#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::stream {

/// What goes before everything that one rank says to another.
struct frame {
  enum class kind : std::uint32_t {
    message,     ///< bytes of a link
    invitation,  ///< of a link, to send a long message
    body,        ///< bytes of a long message, into the place that its link posted first
    consumed,    ///< so many bytes of messages were taken off the link, ever: an 8-byte number
    placed,      ///< the next body that was put has left its sender's memory
    refused,     ///< the same, but it could not be copied
    news,        ///< of the sender or the team itself, for `newsreader`
  };

  std::uint64_t team;  ///< its number in the job
  std::uint32_t from;  ///< the sender, as a rank of the team
  std::uint32_t lane;
  kind what;
  std::uint32_t bytes;  ///< that follow
};

}  // namespace muster::stream
