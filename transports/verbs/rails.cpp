#include "transports/verbs/rails.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "transports/stream/rail_pairs.hpp"
#include "transports/verbs/gids.hpp"

namespace muster::verbs {
namespace {

static_assert(std::is_trivially_copyable_v<reach>);

constexpr std::uint16_t full_member = 0x8000;

/// Two limited members of a partition do not hear each other.
bool share_partition(const rail& one, const rail& other) {
  return ((one.pkey ^ other.pkey) & ~full_member) == 0 &&
         ((one.pkey | other.pkey) & full_member) != 0;
}

/// Nothing in an address of one link says which link it is: ports of one name are taken for
/// cabled alike.
bool share_link(const rail& one, const rail& other) {
  return one.is_of_one_link() && other.is_of_one_link() && one.name.view() == other.name.view();
}

/// That both are one port is fine: it sends to itself.
bool share_network(const rail& one, const rail& other) {
  if (one.is_ethernet != other.is_ethernet || one.roce != other.roce) return false;
  if (!share_partition(one, other)) return false;
  if (one.is_ethernet != 0 && is_ipv4(one.gid) != is_ipv4(other.gid)) return false;
  if (one.is_of_one_link() || other.is_of_one_link()) return share_link(one, other);
  return share_prefix(one.gid, other.gid, std::min(one.bits, other.bits));
}

/// Whether there may be routers between them.
bool are_routable(const rail& one, const rail& other) {
  const bool share_family = one.is_ethernet == 0 || is_ipv4(one.gid) == is_ipv4(other.gid);
  return one.is_ethernet == other.is_ethernet && one.roce == other.roce && share_family &&
         share_partition(one, other);
}

std::vector<stream::rail_pair> pairs_of_choice(const reach& first, const reach& second) {
  std::vector<stream::rail_pair> pairs;
  for (std::size_t i = 0; i < std::min(first.count, second.count); ++i) {
    if (are_routable(first.rails[i], second.rails[i])) pairs.emplace_back(i, i);
  }
  return pairs;
}

bool is_sane_rail(const rail& one) {
  constexpr std::uint8_t most_mtu = 5;
  constexpr std::uint8_t most_bits = 128;
  const bool is_of_a_network = one.is_ethernet == 0
                                   ? one.roce == 0
                                   : one.is_ethernet == 1 && (one.roce == 1 || one.roce == 2);
  return is_of_a_network && one.mtu >= 1 && one.mtu <= most_mtu && one.bits <= most_bits &&
         !is_zero(one.gid);
}

}  // namespace

bool rail::is_of_one_link() const noexcept { return is_ethernet != 0 && is_link_local(gid); }

bool is_sane(const reach& one) noexcept {
  return one.count <= reach::most_rails && one.is_chosen <= 1 &&
         std::ranges::all_of(one.all(), is_sane_rail);
}

paths paths_between(const reach& mine, const reach& theirs, bool is_first) {
  const reach& first = is_first ? mine : theirs;
  const reach& second = is_first ? theirs : mine;
  auto pairs = stream::pair_rails(first, second, share_network);
  if (pairs.empty() && first.is_chosen != 0 && second.is_chosen != 0) {
    pairs = pairs_of_choice(first, second);
  }
  if (first.is_chosen == 0 && second.is_chosen == 0) stream::drop_slow(pairs, first, second);
  paths result;
  for (const auto& [of_first, of_second] : pairs) {
    const std::size_t own = is_first ? of_first : of_second;
    const std::size_t other = is_first ? of_second : of_first;
    result.push_back({.rail = own, .to = theirs.rails[other]});
  }
  return result;
}

}  // namespace muster::verbs
