#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>

namespace muster::shm {

/// A socket between two processes of this machine, through which one hands descriptors to the
/// other. Nothing waits for longer than its deadline. What fails throws an error `errc::bootstrap`,
/// whose rank is that of the other end if it is to blame; where that has closed its end
/// or does not listen, `errc::rank_left`.
class handover {
public:
  using clock = std::chrono::steady_clock;

  /// \param other the rank at the other end
  handover(descriptor socket, std::size_t other) : socket_(std::move(socket)), other_(other) {}
  /// To whoever listens under this name, who should be rank `other`.
  static handover connect(std::string_view name, std::size_t other, clock::time_point deadline);

  /// The process at the other end, which the system vouches for.
  static ucred peer_of(const descriptor& socket);
  ucred peer() const { return peer_of(socket_); }

  void send(std::span<const std::byte> message, clock::time_point deadline) const;
  void receive(std::span<std::byte> message, clock::time_point deadline) const;
  void send_descriptors(std::span<const int> all, clock::time_point deadline) const;
  std::vector<descriptor> receive_descriptors(clock::time_point deadline) const;

private:
  [[noreturn]] void miss_other() const;
  void send(msghdr& message, clock::time_point deadline) const;
  std::size_t receive(msghdr& message, clock::time_point deadline) const;

  descriptor socket_;
  std::size_t other_;
};

/// Listens under a random name that no file system knows and that goes with the object.
class listener {
public:
  /// \param most that may come at once
  explicit listener(std::size_t most);

  const std::string& name() const noexcept { return name_; }
  /// The socket of the next that comes, if one does in time.
  std::optional<descriptor> next(handover::clock::time_point deadline) const;

private:
  descriptor socket_;
  std::string name_;
};

}  // namespace muster::shm
