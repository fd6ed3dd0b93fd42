#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/buffered_socket.hpp"
#include "transports/tcp/intervals.hpp"
#include "transports/tcp/packet.hpp"

namespace muster::stream {
class link;
}

namespace muster::tcp {

/// One socket of a connection that has several: packets, one after the other, both ways.
class subflow {
public:
  /// That it keeps of what has come.
  static constexpr std::size_t most_bytes = std::size_t{16} << 10;

  bool is_open() const noexcept { return socket_.is_open(); }
  int socket() const noexcept { return socket_.get(); }
  /// \param watch as of `buffered_socket`
  void open(descriptor socket, registration watch) noexcept;
  void close() noexcept;
  void note(bool readable, bool writable, bool ends) noexcept {
    socket_.note(readable, writable, ends);
  }
  void bring(std::span<const std::byte> bytes) { socket_.bring(bytes); }
  void stop_bringing(bool ends) noexcept { socket_.stop_bringing(ends); }
  void expect_long() noexcept { socket_.expect_long(); }

  // ---- packets to the peer

  bool is_writable() const noexcept { return socket_.is_writable(); }
  /// Whether one is on its way into the system.
  bool is_sending() const noexcept { return out_left_ != 0; }
  bool is_sending_stripe() const noexcept {
    return is_sending() && head_.what == packet::kind::stripe;
  }
  /// Its bytes are read until it is sent.
  void begin(const packet& head, const std::array<iovec, 2>& bytes) noexcept;
  /// Sends what it takes of the packet that has begun. \returns whether something was sent
  bool push() noexcept;
  /// Of the stripe that is on its way: sends the rest from a copy, ...
  /// \returns whether there is memory for that
  bool keep_rest() noexcept;
  /// ... or zeros in its place, where the peer has it already.
  void send_nothing() noexcept { sends_nothing_ = true; }

  /// A stripe whose coming is not known yet.
  struct stripe {
    stream::link* by;
    std::uint64_t body;
    interval bytes;
  };
  /// What was sent whose coming is not known yet, the last one perhaps in part.
  intervals frames_sent;
  std::vector<stripe> stripes_sent;
  /// What of a body it goes on with.
  stripe run{};

  // ---- packets from the peer

  /// Whether there may be something to read.
  bool is_readable() const noexcept { return socket_.is_readable() || socket_.in().size() != 0; }
  /// Whether its end was read.
  bool has_ended() const noexcept { return socket_.has_ended(); }
  /// The head of the next packet, when it has come. All bytes of the last one were taken.
  bool next(packet& head) noexcept;
  /// Takes up to so many bytes; how many.
  std::size_t take(std::span<std::byte> to) noexcept { return socket_.take(to); }

  packet coming{};       ///< whose bytes come
  std::size_t left = 0;  ///< of them

private:
  buffered_socket socket_{most_bytes};
  packet head_{};
  std::array<iovec, 2> bytes_{};
  std::vector<std::byte> kept_;
  bool sends_nothing_ = false;
  std::size_t out_left_ = 0;  // of the head and the bytes
};

}  // namespace muster::tcp
