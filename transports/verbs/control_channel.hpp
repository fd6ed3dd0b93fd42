#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "transports/tcp/buffered_socket.hpp"
#include "transports/verbs/control.hpp"

namespace muster::verbs {

/// The socket of a pair, by which it arranges its queue pairs: messages both ways, in order.
class control_channel {
public:
  tcp::buffered_socket& socket() noexcept { return socket_; }
  const tcp::buffered_socket& socket() const noexcept { return socket_; }

  /// \param more follows `bytes` in the same message
  void say(control::kind what, std::size_t subflow, std::span<const std::byte> bytes = {},
           std::span<const std::byte> more = {});
  /// False: some of what was said still waits.
  bool flush() noexcept;
  /// The next message, if it has come whole: its bytes, until the next call.
  /// \returns false: there is none
  bool read(control& head, std::span<const std::byte>& bytes);
  /// What comes next cannot be.
  bool is_broken() const noexcept { return is_broken_; }

private:
  bool fill(std::size_t bytes);

  tcp::buffered_socket socket_{std::size_t{1} << 12};
  std::vector<std::byte> said_;   // that waits to be sent
  std::vector<std::byte> heard_;  // of a message that has not come whole
  std::size_t read_ = 0;          // of the last one that was given out
  bool is_broken_ = false;
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
