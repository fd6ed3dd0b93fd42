#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <utility>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/byte_ring.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// A connected socket that never blocks: what the system has told of it, and what has come of which
/// nobody has taken anything yet.
class buffered_socket {
public:
  /// \param bytes a power of two, that it keeps
  explicit buffered_socket(std::size_t bytes) : in_(bytes) {}

  bool is_open() const noexcept { return static_cast<bool>(socket_); }
  int get() const noexcept { return socket_.get(); }
  void open(descriptor socket) noexcept {
    socket_ = std::move(socket);
    is_readable_ = is_writable_ = true;
  }
  /// What has come stays.
  void close() noexcept {
    socket_ = descriptor();
    is_readable_ = is_writable_ = will_end_ = has_ended_ = false;
  }
  /// The system says that something may have come, or that there may be room.
  /// \param ends nothing more comes than what is there
  void note(bool readable, bool writable, bool ends) noexcept {
    will_end_ = will_end_ || ends;
    is_readable_ = is_readable_ || readable;
    is_writable_ = is_writable_ || writable;
  }
  /// Whether the system may have something that has come.
  bool is_readable() const noexcept { return is_readable_; }
  bool is_writable() const noexcept { return is_writable_; }
  /// Whether its end was read.
  bool has_ended() const noexcept { return has_ended_; }

  /// As `send_some`, and keeps in mind what that says.
  moved send(std::span<const iovec> parts) noexcept;
  /// Takes up to so many bytes; how many.
  std::size_t take(std::span<std::byte> to) noexcept;
  /// Into `first`, then what comes after it into the ring. \returns how many came for `first`
  std::size_t read(std::span<std::byte> first) noexcept;
  /// What has come.
  byte_ring& in() noexcept { return in_; }
  const byte_ring& in() const noexcept { return in_; }

private:
  descriptor socket_;
  bool is_readable_ = false;
  bool is_writable_ = false;
  bool will_end_ = false;   // what there is to read is the last
  bool has_ended_ = false;  // it was read
  byte_ring in_;
};

}  // namespace muster::tcp
