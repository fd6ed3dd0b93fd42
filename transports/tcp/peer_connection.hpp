#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <muster/base/descriptor.hpp>

#include "transports/stream/connection.hpp"
#include "transports/tcp/reactor.hpp"

namespace muster::tcp {

/// A connection of ranks of two machines, as the endpoint drives it: of one subflow or of several.
/// A subflow is a socket that carries a part of what they say.
class peer_connection : public stream::connection {
public:
  using connection::connection;

  virtual bool is_open(std::size_t subflow) const noexcept = 0;
  /// Whether the peer can be reached.
  virtual bool is_open() const noexcept = 0;
  /// It is connected; if it was, that carries nothing any more.
  /// \param watch of the socket, for `reactor::interest::messages`
  virtual void open(std::size_t subflow, descriptor socket, registration watch) noexcept = 0;
  /// The peer is no more, and will not be again.
  virtual void close() noexcept = 0;
  virtual bool is_closed() const noexcept = 0;
  // As of `reactor::handler`.
  virtual void note(std::size_t subflow, bool readable, bool writable, bool ends) noexcept = 0;
  virtual void bring(std::size_t subflow, std::span<const std::byte> bytes) = 0;
  virtual void stop_bringing(std::size_t subflow, bool ends) noexcept = 0;
  /// Takes what has come; true if there was something.
  virtual bool advance() noexcept = 0;
  /// Whether a look may find something that the system has told of already.
  virtual bool is_active() const noexcept = 0;
  /// Whether the peer has closed it, and all that it said before has been read.
  virtual bool is_over() const noexcept = 0;
  /// Sends what waits; false where some still does.
  virtual bool flush() noexcept = 0;
  /// Whether all that was sent has come to the peer's machine.
  virtual bool has_delivered() noexcept = 0;
  /// Gives up subflows that carry nothing any more, while others do, and makes them anew. Called
  /// now and then.
  /// \returns whether there is anything to watch for
  virtual bool tend() noexcept = 0;

  /// Whether the endpoint has it among those to look at. \returns whether that is new
  bool set_listed(bool listed) noexcept { return std::exchange(is_listed_, listed) != listed; }

private:
  bool is_listed_ = false;
};

}  // namespace muster::tcp
