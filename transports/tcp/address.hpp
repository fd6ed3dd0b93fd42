#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::tcp {

/// Where a process listens: an IPv4 or IPv6 address and a port. Trivially copyable.
struct address {
  sockaddr_storage storage{};
  std::uint32_t length = 0;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  bool is_loopback() const noexcept;
  /// Whether it means something on one link of the network only.
  bool is_of_one_link() const noexcept;
  /// Its host, in the network's order: 4 or 16 bytes.
  std::span<const std::uint8_t> bytes() const noexcept;
  bool is_same_host(const address& other) const noexcept;
  /// Whether it is all addresses of its kind.
  bool is_anywhere() const noexcept;
  /// By which this machine itself reaches it: where it is all addresses, the loopback's.
  address local() const;
  void set_port(std::uint16_t port) noexcept;
  std::uint16_t port() const noexcept;
  /// "10.0.0.1", "fd00::1"
  std::string host_text() const;
  /// "10.0.0.1:20000", "[fd00::1]:20000"
  std::string text() const;

  /// \param host 4 or 16 bytes
  static address of_bytes(std::span<const std::uint8_t> host, std::uint16_t port) noexcept;
  /// \param host a numeric address or a name. \throws error `errc::bootstrap`
  static address resolve(const std::string& host, std::uint16_t port);
  /// All that it has.
  static std::vector<address> resolve_all(const std::string& host, std::uint16_t port);
};

}  // namespace muster::tcp
