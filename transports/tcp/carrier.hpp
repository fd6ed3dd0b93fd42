#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <muster/wire/fabric.hpp>

#include "transports/tcp/peer_connection.hpp"

namespace muster::tcp {

class endpoint;

/// Another network than sockets for what ranks say to each other. A pair's sockets then let
/// the ranks in, arrange their connection there, and tell each when the other ends.
class carrier {
public:
  virtual ~carrier() = default;

  virtual bool carries(std::size_t rank) const noexcept = 0;
  /// A connection whose subflows here are those sockets. \param by outlives it
  virtual std::unique_ptr<peer_connection> connect(stream::connections& of, std::size_t rank,
                                                   endpoint& by) = 0;
  /// Learns what that network has done since, and lists connections that it concerns.
  virtual void look() noexcept = 0;
  /// What is readable when `look` has something to learn, once it is armed.
  virtual std::span<const int> descriptors() const noexcept = 0;
  /// One of them is readable.
  virtual void note(int descriptor) noexcept = 0;
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  virtual wire::traffic traffic() const noexcept = 0;
  /// What a connection takes of this rank's memory.
  virtual std::size_t connection_bytes() const noexcept = 0;
};

}  // namespace muster::tcp
