#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transports/tcp/intervals.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// From how many bytes on `MUSTER_ZERO_COPY` wants it; 0: never.
/// \throws error `errc::invalid_argument`
std::size_t zero_copy_asked_for();

/// Sends of which the system reads the bytes where they are, until it reports that it is done with
/// them (MSG_ZEROCOPY). Where it reports that it has copied them all the same, as between
/// namespaces of one machine, trying costs more than copying: no more are made then.
class zero_copy_sends {
public:
  /// The system is asked whether it can.
  /// \param from so many bytes on it is worthwhile; 0: never
  void begin(int socket, std::size_t from) noexcept;
  /// Whether so many bytes are better sent so.
  bool pays(std::size_t bytes) const noexcept { return from_ != 0 && bytes >= from_; }
  /// None where the system cannot: they are to be copied. It has room for so many, and not all
  /// memory can be read by a device.
  std::optional<moved> send(int socket, std::span<const std::byte> bytes) noexcept;

  /// How many were made.
  std::uint64_t count() const noexcept { return made_; }
  /// Whether the first so many are done.
  bool are_done(std::uint64_t first) const noexcept { return done_.covers({0, first}); }
  /// Takes what the system reports.
  void read_reports(int socket) noexcept;

private:
  std::size_t from_ = 0;  // 0: it is not worthwhile
  std::uint64_t made_ = 0;
  intervals done_;
};

}  // namespace muster::tcp
