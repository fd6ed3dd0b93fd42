#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/buffered_socket.hpp"
#include "transports/verbs/control.hpp"

namespace muster::verbs {

/// The sockets of a pair, by which it arranges its queue pairs: messages both ways, in order. Each
/// message goes by all sockets, and counts where it comes first, so that none is lost with a rail.
class control_channel {
public:
  explicit control_channel(std::size_t sockets) : ways_(sockets) {}

  std::size_t size() const noexcept { return ways_.size(); }
  const tcp::buffered_socket& socket(std::size_t which) const noexcept {
    return ways_[which].socket;
  }
  tcp::buffered_socket& socket(std::size_t which) noexcept { return ways_[which].socket; }
  bool is_open() const noexcept;
  bool is_readable() const noexcept;
  /// Whether none is open any more, since the peer has ended the last one.
  bool has_ended() const noexcept { return has_ended_; }
  /// \param watch as of `tcp::buffered_socket`
  void open(std::size_t which, descriptor socket, tcp::registration watch) noexcept;
  void close(std::size_t which) noexcept;
  void close_all() noexcept;

  /// \param more follows `bytes` in the same message
  void say(control::kind what, std::size_t subflow, std::span<const std::byte> bytes = {},
           std::span<const std::byte> more = {});
  /// False: some of what was said still waits, by every socket.
  bool flush() noexcept;
  /// The next message, if it has come whole: its bytes, until the next call.
  /// \returns false: there is none
  bool read(control& head, std::span<const std::byte>& bytes);
  enum class fault : std::uint8_t {
    none,
    too_long,     ///< what comes next is longer than a message can be
    out_of_turn,  ///< it is not the next one, or says that more was heard than was said
    unheard,      ///< the peer has heard nothing of `most_unheard` messages
  };
  /// Why nothing more is said or read.
  fault what_is_wrong() const noexcept { return fault_; }
  /// That a peer may not have heard: one that does not read could have this rank say ever more.
  static constexpr std::size_t most_unheard = 4096;

private:
  /// One socket.
  struct way {
    tcp::buffered_socket socket{std::size_t{1} << 12};
    std::uint64_t next = 0;         // message to send
    std::size_t sent = 0;           // of its bytes
    std::vector<std::byte> coming;  // of a message that has not come whole
  };

  void send_by(way& one) noexcept;
  bool fill(way& from, std::size_t bytes);
  bool read_from(way& from, control& head);
  fault check(const control& head) const noexcept;
  void drop_heard(std::uint64_t heard) noexcept;
  void end(way& one) noexcept;

  std::vector<way> ways_;
  std::deque<std::vector<std::byte>> said_;  // what the peer may not have heard
  std::uint64_t first_ = 0;                  // of these, as they are numbered
  std::uint64_t heard_ = 0;                  // messages from the peer
  std::uint64_t told_ = 0;                   // of these, to the peer
  std::vector<std::byte> message_;           // the last one given out
  bool has_ended_ = false;
  fault fault_ = fault::none;
};

/// What a message brings, as it lies in memory. False: it is too short.
template <class T>
bool take(std::span<const std::byte>& from, T& to) noexcept {
  if (from.size() < sizeof to) return false;
  std::memcpy(&to, from.data(), sizeof to);
  from = from.subspan(sizeof to);
  return true;
}

}  // namespace muster::verbs
