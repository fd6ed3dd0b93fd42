#pragma once

#include <cstdint>

namespace muster::tcp {

/// What goes before everything on a subflow, where a connection has several.
struct packet {
  enum class kind : std::uint32_t {
    frames,  ///< bytes of the stream of frames
    stripe,  ///< bytes of a long message's body
    none,    ///< it tells how much was consumed, and nothing else
  };

  kind what;
  std::uint32_t bytes;     ///< that follow
  std::uint64_t at;        ///< of the first of them, in the stream or in the body
  std::uint64_t consumed;  ///< of the stream the other way, by who sends this
  // Of a stripe: the link that it comes by, and how many bodies that has sent before.
  std::uint64_t team;
  std::uint32_t from;
  std::uint32_t lane;
  std::uint64_t body;
};

}  // namespace muster::tcp
