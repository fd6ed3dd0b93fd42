#pragma once

#include <cstdint>

#include "transports/stream/frame.hpp"

namespace muster::mpi {

/// What ranks say to each other apart from frames, to end what would otherwise never end: a message
/// that was sent has to be received.
struct control {
  enum class kind : std::uint32_t {
    /// Of what is sent by this tag `number` parts are received, of all that ever were, and no more;
    /// nothing is invited to its link any more.
    withdrawn,
    /// What is under way by this tag, an invitation's that stands, will perhaps never be received:
    /// how much of it will be?
    abandoned,
    /// Nothing is known of that tag, since its team ended well.
    unknown,
    /// A part more was sent, of `number` bytes, which is to be received and forgotten.
    drain,
  };

  kind what;
  std::uint32_t tag;
  stream::frame link;  ///< its name, as of `stream::link::name`
  std::uint64_t number;
};

}  // namespace muster::mpi
