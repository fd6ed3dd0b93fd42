#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/byte_ring.hpp"
#include "transports/tcp/reactor.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/zero_copy_sends.hpp"

namespace muster::tcp {

/// A connected socket that never blocks: what the system has told of it, and what has come of which
/// nobody has taken anything yet.
///
/// While what comes is short, a reactor that can bring it does. Something long is *asked* for, for
/// it can go straight to its place.
class buffered_socket {
public:
  /// \param bytes a power of two, that it keeps
  explicit buffered_socket(std::size_t bytes) : in_(bytes) {}

  bool is_open() const noexcept { return static_cast<bool>(socket_); }
  int get() const noexcept { return socket_.get(); }
  /// \param watch of this socket, for `reactor::interest::messages`
  /// \param zero_copy_from so many bytes on sends are from where they are; 0: none is
  void open(descriptor socket, registration watch, std::size_t zero_copy_from = 0) noexcept;
  /// What has come stays.
  void close() noexcept;

  // ---- what the reactor says

  /// Something may have come, or there may be room.
  /// \param ends nothing more comes than what is there
  void note(bool readable, bool writable, bool ends) noexcept;
  void bring(std::span<const std::byte> bytes);
  void stop_bringing(bool ends) noexcept;

  // ---- for the connection

  /// Whether there may be something that has come.
  bool is_readable() const noexcept { return is_readable_; }
  bool is_writable() const noexcept { return is_writable_; }
  /// Whether its end was read.
  bool has_ended() const noexcept { return has_ended_; }
  /// Something long is about to come.
  void expect_long() noexcept;

  /// As `send_some`, and keeps in mind what that says.
  moved send(std::span<const iovec> parts, more_to_send more = more_to_send::no) noexcept;
  /// Whether so many bytes are better sent from where they are.
  bool sends_zero_copy(std::size_t bytes) const noexcept { return zero_copy_.pays(bytes); }
  /// The same for bytes that the system may read until as many sends as there are now have left.
  moved send_zero_copy(std::span<const std::byte> bytes) noexcept;
  std::uint64_t zero_copy_sends() const noexcept { return zero_copy_.count(); }
  /// Takes what the system reports of them.
  void read_reports() noexcept {
    if (is_open()) zero_copy_.read_reports(socket_.get());
  }
  bool have_left(std::uint64_t zero_copy_sends) const noexcept {
    return zero_copy_.are_done(zero_copy_sends);
  }
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  /// Takes up to so many bytes; how many. \param most_behind as of `read`
  std::size_t take(std::span<std::byte> to, std::size_t most_behind = all) noexcept;
  /// Into `first`, then what comes after it into the ring.
  /// \param most_behind bytes that go into the ring at most, where they have not come yet
  /// \returns how many came for `first`
  std::size_t read(std::span<std::byte> first, std::size_t most_behind = all) noexcept;
  /// What has come.
  byte_ring& in() noexcept { return in_; }
  const byte_ring& in() const noexcept { return in_; }

private:
  /// How what comes gets here.
  enum class coming : std::uint8_t {
    asked,
    brought,
    asked_soon  ///< the reactor was told to end
  };

  moved keep_in_mind(const moved& sent) noexcept;
  std::size_t take_brought(std::span<std::byte> first) noexcept;
  /// All there is was read.
  /// \param still_to_come so many bytes at least
  void await_more(std::size_t last_read, std::size_t still_to_come) noexcept;

  descriptor socket_;
  registration watch_;
  tcp::zero_copy_sends zero_copy_;
  coming how_ = coming::asked;
  unsigned short_reads_ = 0;   // one after the other
  std::size_t told_from_ = 1;  // bytes: fewer are not told of
  bool is_readable_ = false;
  bool is_writable_ = false;
  bool will_end_ = false;   // what there is to read is the last
  bool has_ended_ = false;  // it was read
  byte_ring in_;
  std::vector<std::byte> behind_;  // that was brought, and found no room in the ring
};

}  // namespace muster::tcp
