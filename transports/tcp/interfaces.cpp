#include "transports/tcp/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster::tcp {
namespace {

/// How many of the first bits of a network's mask are set.
std::size_t bits_set(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  address as_address;
  as_address.length = mask->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::memcpy(&as_address.storage, mask, as_address.length);
  std::size_t bits = 0;
  for (const std::uint8_t each : as_address.bytes()) {
    bits += static_cast<std::size_t>(std::popcount(each));
  }
  return bits;
}

/// A network, or an address as one that is its own.
struct network {
  address of;
  std::size_t bits = 0;

  bool has(const address& one) const {
    if (one.storage.ss_family != of.storage.ss_family) return false;
    const auto mine = of.bytes();
    const auto theirs = one.bytes();
    const auto last = static_cast<unsigned>(bits % 8);
    if (!std::ranges::equal(mine.first(bits / 8), theirs.first(bits / 8))) return false;
    return last == 0 || ((mine[bits / 8] ^ theirs[bits / 8]) >> (8 - last)) == 0;
  }
};

std::optional<network> parse_network(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string host(text.substr(0, slash));
  network result;
  std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) {
    result.of = address::of_bytes(std::span(bytes).first(sizeof(in_addr)), 0);
  } else if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) {
    result.of = address::of_bytes(bytes, 0);
  } else {
    return std::nullopt;
  }
  const std::size_t most = 8 * result.of.bytes().size();
  result.bits = most;
  if (slash == text.size()) return result;
  const std::string_view length = text.substr(slash + 1);
  const auto [end, code] = std::from_chars(length.begin(), length.end(), result.bits);
  if (code != std::errc{} || end != length.end() || result.bits > most) return std::nullopt;
  return result;
}

std::vector<interface_address> addresses_of(std::string_view part,
                                            std::span<const interface_address> all) {
  const std::optional<network> within = parse_network(part);
  std::vector<interface_address> found;
  bool is_interface = false;
  for (const interface_address& each : all) {
    is_interface = is_interface || each.interface == part;
    const bool is_meant = within ? within->has(each.at) : each.interface == part;
    if (is_meant) found.push_back(each);
  }
  if (!within && !is_interface) {
    throw error(errc::invalid_argument,
                "MUSTER_INTERFACES: '" + std::string(part) +
                    "' is no interface of this machine that is up, no address and no network; "
                    "expected such as eth0,10.1.0.0/16");
  }
  return found;
}

}  // namespace

std::vector<interface_address> interface_addresses() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, &::freeifaddrs);
  std::vector<interface_address> result;
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    interface_address one{.interface = each->ifa_name,
                          .at = {},
                          .bits = bits_set(each->ifa_netmask),
                          .flags = each->ifa_flags};
    one.at.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&one.at.storage, each->ifa_addr, one.at.length);
    result.push_back(std::move(one));
  }
  return result;
}

std::vector<interface_address> addresses_named(std::string_view text) {
  const std::vector<interface_address> all = interface_addresses();
  std::vector<interface_address> result;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(part.size() + 1, left.size()));
    for (const interface_address& one : addresses_of(part, all)) {
      const auto is_known = [&](const interface_address& other) {
        return one.at.is_same_host(other.at);
      };
      if (std::ranges::none_of(result, is_known)) result.push_back(one);
    }
  }
  if (!result.empty()) return result;
  throw error(errc::bootstrap,
              "MUSTER_INTERFACES is '" + std::string(text) + "'; this machine has no such address");
}

address first_address_beyond_loopback() {
  const auto is_one = [](const interface_address& one, int family) {
    return one.at.storage.ss_family == family && one.interface != "lo" && !one.at.is_loopback() &&
           !one.at.is_of_one_link();
  };
  const std::vector<interface_address> all = interface_addresses();
  for (const int family : {AF_INET, AF_INET6}) {
    for (const interface_address& each : all) {
      if (is_one(each, family)) return each.at;
    }
  }
  throw error(errc::bootstrap, "tcp: this machine has no address but its own loopback");
}

address beyond_loopback(const address& usual) {
  if (!usual.is_loopback()) return usual;
  try {
    return first_address_beyond_loopback();
  } catch (const error&) {
    return usual;
  }
}

port_range parse_ports(std::string_view text) {
  port_range ports;
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto parse = [](std::string_view digits, std::uint16_t& into) {
    const auto [end, code] = std::from_chars(digits.begin(), digits.end(), into);
    return code == std::errc{} && end == digits.end() && into != 0;
  };
  const bool has_first = parse(text.substr(0, dash), ports.first);
  ports.last = ports.first;
  const bool has_last = dash == text.size() || parse(text.substr(dash + 1), ports.last);
  if (has_first && has_last && ports.first <= ports.last) return ports;
  throw error(errc::invalid_argument,
              "MUSTER_PORTS is '" + std::string(text) + "'; expected ports such as 20000-20999");
}

listener listen_at_some_port(const address& where, listening_for what) {
  const char* const ports = environment::read(environment::ports);
  address at = where;
  if (ports == nullptr) {
    at.set_port(0);
    // The port that the system gives may be taken for datagrams.
    constexpr int attempts = 100;
    for (int i = 0; i < attempts; ++i) {
      if (auto made = try_listening_at(at, what)) return std::move(*made);
    }
    throw error(errc::bootstrap, "tcp: no port is free at " + at.text());
  }
  const port_range range = parse_ports(ports);
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    at.set_port(static_cast<std::uint16_t>(port));
    if (auto made = try_listening_at(at, what)) return std::move(*made);
  }
  throw error(errc::bootstrap,
              std::string("tcp: no port of MUSTER_PORTS=") + ports + " is free at " + at.text());
}

namespace {

/// Of both kinds, where there is IPv6.
template <class Listen>
listener at_all_addresses(std::uint16_t port, Listen listen) {
  try {
    return listen(address::resolve("::", port));
  } catch (const error&) {
    return listen(address::resolve("0.0.0.0", port));
  }
}

}  // namespace

listener listen_as_asked(const address& usual) {
  const char* const interfaces = environment::read(environment::interfaces);
  return listen_at_some_port(
      interfaces == nullptr ? beyond_loopback(usual) : addresses_named(interfaces).front().at,
      listening_for::connections);
}

listener listen_everywhere() {
  if (const char* const interfaces = environment::read(environment::interfaces)) {
    return listen_at_some_port(addresses_named(interfaces).front().at, listening_for::connections);
  }
  return at_all_addresses(
      0, [](const address& all) { return listen_at_some_port(all, listening_for::connections); });
}

std::chrono::milliseconds timeout_asked_for() {
  constexpr double usual = 10;
  constexpr double most = 1e6;
  const char* const set = environment::read(environment::timeout);
  double seconds = usual;
  const std::string_view text = set == nullptr ? "" : set;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), seconds);
  const bool is_number = code == std::errc{} && end == text.end() && seconds >= 0;
  if (set != nullptr && (!is_number || seconds > most)) {
    throw error(errc::invalid_argument, "MUSTER_TIMEOUT is '" + std::string(text) +
                                            "'; expected seconds, such as 10 or 0.5, or 0: never");
  }
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

listener listen_everywhere_at(std::uint16_t port) {
  return at_all_addresses(port, [](const address& all) { return listen_at(all); });
}

std::vector<address> addresses_for(const listener& one) {
  if (!one.at.is_anywhere()) return {one.at};
  std::vector<address> result;
  for (const interface_address& each : interface_addresses()) {
    const bool is_reached = one.at.storage.ss_family == AF_INET6 ||
                            each.at.storage.ss_family == one.at.storage.ss_family;
    if (is_reached && !each.at.is_loopback() && !each.at.is_of_one_link())
      result.push_back(each.at);
  }
  if (result.empty()) result.push_back(one.at.local());
  return result;
}

}  // namespace muster::tcp
