#include "transports/tcp/address.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <muster/base/error.hpp>

namespace muster::tcp {

std::string address::host_text() const {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(get(), length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  return host.data();
}

std::string address::text() const {
  const std::string host = host_text();
  return (storage.ss_family == AF_INET6 ? "[" + host + "]" : host) + ":" + std::to_string(port());
}

bool address::is_loopback() const noexcept {
  if (storage.ss_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr) >> 24 == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

bool address::is_of_one_link() const noexcept {
  const auto host = bytes();
  if (host.size() == 4) return host[0] == 169 && host[1] == 254;
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

std::span<const std::uint8_t> address::bytes() const noexcept {
  if (storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(storage).sin_addr;
    return {reinterpret_cast<const std::uint8_t*>(&four), sizeof four};
  }
  return reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr.s6_addr;
}

bool address::is_same_host(const address& other) const noexcept {
  return storage.ss_family == other.storage.ss_family && std::ranges::equal(bytes(), other.bytes());
}

bool address::is_anywhere() const noexcept {
  if (storage.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr == htonl(INADDR_ANY);
  }
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

address address::local() const {
  if (!is_anywhere()) return *this;
  return resolve(storage.ss_family == AF_INET ? "127.0.0.1" : "::1", port());
}

// The port has one place in both kinds of address.
void address::set_port(std::uint16_t port) noexcept {
  reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
}

std::uint16_t address::port() const noexcept {
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

address address::of_bytes(std::span<const std::uint8_t> host, std::uint16_t port) noexcept {
  address made;
  if (host.size() == 4) {
    auto& four = reinterpret_cast<sockaddr_in&>(made.storage);
    four.sin_family = AF_INET;
    std::memcpy(&four.sin_addr, host.data(), host.size());
    made.length = sizeof four;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(made.storage);
    six.sin6_family = AF_INET6;
    std::memcpy(&six.sin6_addr, host.data(), host.size());
    made.length = sizeof six;
  }
  made.set_port(port);
  return made;
}

address address::resolve(const std::string& host, std::uint16_t port) {
  return resolve_all(host, port).front();
}

std::vector<address> address::resolve_all(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) {
    throw error(errc::bootstrap, "tcp: '" + host + "' has no address: " + ::gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<address> result;
  for (const addrinfo* each = all.get(); each != nullptr; each = each->ai_next) {
    result.emplace_back();
    std::memcpy(&result.back().storage, each->ai_addr, each->ai_addrlen);
    result.back().length = each->ai_addrlen;
  }
  return result;
}

}  // namespace muster::tcp
