#pragma once

#include <cstdint>

#include "transports/stream/frame.hpp"

namespace muster::mpi {

/// What ranks say to each other apart from frames, to end what would otherwise never end: a message
/// that was sent has to be received.
struct control {
  enum class kind : std::uint32_t {
    /// Of the message with this tag `bytes` parts are received, and no more; nothing is invited to
    /// its link any more.
    withdrawn,
    /// But a part was sent, of `bytes` bytes, which are to be received and forgotten.
    drain,
  };

  kind what;
  std::uint32_t tag;
  stream::frame link;  ///< its name, as of `stream::link::name`
  std::uint64_t bytes;
};

}  // namespace muster::mpi
