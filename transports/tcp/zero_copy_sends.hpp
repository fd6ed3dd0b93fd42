#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transports/tcp/intervals.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// Sends of which the system reads the bytes where they are, until it reports that it is done with
/// them (MSG_ZEROCOPY). Where it reports that it has copied them all the same, as between
/// namespaces of one machine, trying costs more than copying: no more are made.
class zero_copy_sends {
public:
  /// Below it, pinning pages and reading reports may cost more than the copy: Linux's documentation
  /// names some 10 KB.
  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  /// The system is asked whether it can.
  void begin(int socket) noexcept;
  /// Whether so many bytes are better sent so.
  bool pays(std::size_t bytes) const noexcept { return is_worthwhile_ && bytes >= least_bytes; }
  /// None where the system has no room for one more: they are to be copied.
  std::optional<moved> send(int socket, std::span<const std::byte> bytes) noexcept;

  /// How many were made.
  std::uint64_t count() const noexcept { return made_; }
  /// Whether the first so many are done.
  bool are_done(std::uint64_t first) const noexcept { return done_.covers({0, first}); }
  /// Takes what the system reports. \returns whether it reported anything
  bool read_reports(int socket) noexcept;

private:
  bool is_worthwhile_ = false;
  std::uint64_t made_ = 0;
  intervals done_;
};

}  // namespace muster::tcp
