#include "transports/verbs/gids.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace muster::verbs {
namespace {

constexpr std::size_t before_ipv4 = 12;
constexpr std::uint8_t bits_before_ipv4 = 8 * before_ipv4;
constexpr std::uint8_t all_bits = 128;
constexpr std::uint8_t interface_bits = 64;  // of an IPv6 address; of InfiniBand's, the subnet's

/// An IPv4 or IPv6 address's bytes, or its mask's, at the end of a GID's.
gid_bytes bytes_of(const sockaddr* from) {
  gid_bytes gid{};
  if (from->sa_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, from, sizeof address);
    std::memcpy(&gid[before_ipv4], &address.sin_addr, sizeof address.sin_addr);
  } else {
    sockaddr_in6 address{};
    std::memcpy(&address, from, sizeof address);
    std::memcpy(gid.data(), &address.sin6_addr, sizeof address.sin6_addr);
  }
  return gid;
}

void map_ipv4(gid_bytes& gid) { gid[before_ipv4 - 2] = gid[before_ipv4 - 1] = 0xff; }

int bits_set(const gid_bytes& mask) {
  int bits = 0;
  for (const std::uint8_t each : mask) bits += std::popcount(each);
  return bits;
}

interface_network network_of(const ifaddrs& one) {
  interface_network made{.address = bytes_of(one.ifa_addr)};
  const bool is_short = one.ifa_addr->sa_family == AF_INET;
  if (is_short) map_ipv4(made.address);
  const int bits = one.ifa_netmask == nullptr ? 0 : bits_set(bytes_of(one.ifa_netmask));
  made.bits = static_cast<std::uint8_t>(bits + (is_short ? bits_before_ipv4 : 0));
  return made;
}

bool is_loopback(const gid_bytes& gid) {
  constexpr std::uint8_t loopback = 127;
  if (is_ipv4(gid)) return gid[before_ipv4] == loopback;
  return std::all_of(gid.begin(), gid.end() - 1, [](std::uint8_t each) { return each == 0; }) &&
         gid.back() == 1;
}

bool is_here(const gid_bytes& gid, std::span<const interface_network> here) {
  return std::ranges::find(here, gid, &interface_network::address) != here.end();
}

/// The less the better.
int rank_of(const gid_entry& one, std::span<const interface_network> here) {
  if (one.kind == gid_kind::infiniband) return 0;
  const int worse = one.kind == gid_kind::roce_v2 ? 0 : 10;
  if (is_link_local(one.gid)) return worse + 4;
  return worse + (is_here(one.gid, here) ? 0 : 2) + (is_ipv4(one.gid) ? 0 : 1);
}

}  // namespace

std::vector<interface_network> interface_networks() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, &::freeifaddrs);
  std::vector<interface_network> networks;
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family == AF_INET || family == AF_INET6) networks.push_back(network_of(*each));
  }
  return networks;
}

bool is_zero(const gid_bytes& gid) noexcept { return gid == gid_bytes{}; }

bool is_ipv4(const gid_bytes& gid) noexcept {
  gid_bytes mapped{};
  map_ipv4(mapped);
  return std::equal(gid.begin(), gid.begin() + before_ipv4, mapped.begin());
}

bool is_link_local(const gid_bytes& gid) noexcept {
  if (is_ipv4(gid)) return gid[before_ipv4] == 169 && gid[before_ipv4 + 1] == 254;
  return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

bool share_prefix(const gid_bytes& one, const gid_bytes& other, std::size_t bits) noexcept {
  const std::size_t whole = bits / 8;
  const unsigned rest = bits % 8U;
  if (!std::equal(one.begin(), one.begin() + whole, other.begin())) return false;
  return rest == 0 || ((one[whole] ^ other[whole]) >> (8 - rest)) == 0;
}

std::string text_of(const gid_bytes& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_ipv4(gid)) {
    ::inet_ntop(AF_INET, &gid[before_ipv4], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, gid.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<gid_entry> best_gid(std::span<const gid_entry> all,
                                  std::span<const interface_network> here) {
  std::vector<gid_entry> possible;
  std::ranges::copy_if(all, std::back_inserter(possible), [](const gid_entry& one) {
    return !is_zero(one.gid) && (one.kind == gid_kind::infiniband || !is_loopback(one.gid));
  });
  if (possible.empty()) return std::nullopt;
  return *std::ranges::min_element(
      possible, {}, [&](const gid_entry& one) { return std::pair(rank_of(one, here), one.index); });
}

std::uint8_t network_bits(const gid_entry& of, std::span<const interface_network> here) noexcept {
  if (of.kind == gid_kind::infiniband) return interface_bits;
  const auto found = std::ranges::find(here, of.gid, &interface_network::address);
  if (found != here.end()) return found->bits;
  // Every port of an Ethernet has such a GID, also where its interface has no address.
  return is_link_local(of.gid) && !is_ipv4(of.gid) ? interface_bits : all_bits;
}

}  // namespace muster::verbs
