#include "transports/tcp/rails.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "transports/stream/rail_pairs.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::tcp {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& interface) { return fs::path("/sys/class/net") / interface; }

/// The interface that really has the port: a VLAN, for example, shares another one's.
std::string port_of(std::string interface) {
  constexpr int deepest = 8;
  constexpr std::string_view lower = "lower_";
  for (int depth = 0; depth < deepest; ++depth) {
    std::error_code none;
    std::string below;
    for (const auto& each : fs::directory_iterator(folder_of(interface), none)) {
      const std::string name = each.path().filename();
      if (name.starts_with(lower)) below = name.substr(lower.size());
    }
    if (below.empty()) break;
    interface = below;
  }
  return interface;
}

std::uint32_t speed_of(const std::string& interface) {
  std::ifstream from(folder_of(interface) / "speed");
  long speed = 0;
  from >> speed;
  return from && speed > 0 ? static_cast<std::uint32_t>(speed) : 0;
}

/// Whether it leads to other machines, as far as one can tell.
bool leads_out(const interface_address& one) {
  std::error_code none;
  const bool is_up = (one.flags & IFF_RUNNING) != 0;
  const bool is_of_one_machine = (one.flags & (IFF_LOOPBACK | IFF_POINTOPOINT)) != 0 ||
                                 fs::exists(folder_of(one.interface) / "bridge", none) ||
                                 fs::exists(folder_of(one.interface) / "tun_flags", none);
  return is_up && !is_of_one_machine && !one.at.is_loopback() && !one.at.is_of_one_link();
}

rail describe(const interface_address& one) {
  rail made{.port = one.at.port(),
            .family = static_cast<std::uint8_t>(one.at.storage.ss_family == AF_INET ? 4 : 6),
            .bits = static_cast<std::uint8_t>(one.bits),
            .speed = speed_of(one.interface)};
  std::ranges::copy(one.at.bytes(), made.host.begin());
  return made;
}

std::uint32_t connections_asked_for() {
  const char* const set = environment::read(environment::connections);
  if (set == nullptr) return 1;
  const std::string_view text = set;
  std::uint32_t count = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), count);
  if (code == std::errc{} && end == text.end() && count >= 1 && count <= reach::most_connections) {
    return count;
  }
  throw error(errc::invalid_argument, "MUSTER_CONNECTIONS is '" + std::string(text) +
                                          "'; expected how many connections each pair of ranks "
                                          "has on each rail, 1 to " +
                                          std::to_string(reach::most_connections));
}

/// Of those, one of each port.
std::vector<interface_address> one_a_port(std::vector<interface_address> all) {
  std::vector<std::string> known;
  std::erase_if(all, [&](const interface_address& one) {
    std::string port = port_of(one.interface);
    if (std::ranges::find(known, port) != known.end()) return true;
    known.push_back(std::move(port));
    return false;
  });
  return all;
}

std::vector<interface_address> chosen_by(const char* text) {
  std::vector<interface_address> all = one_a_port(addresses_named(text));
  if (all.size() <= reach::most_rails) return all;
  throw error(errc::invalid_argument, "MUSTER_INTERFACES is '" + std::string(text) +
                                          "': these are " + std::to_string(all.size()) +
                                          " ports; expected at most " +
                                          std::to_string(reach::most_rails));
}

std::vector<interface_address> found_beside(const address& usual) {
  std::vector<interface_address> all;
  const std::vector<interface_address> here = interface_addresses();
  const auto is_usual = [&](const interface_address& one) { return one.at.is_same_host(usual); };
  std::ranges::copy_if(here, std::back_inserter(all), is_usual);
  if (all.empty()) all.push_back({.interface = {}, .at = usual});
  std::ranges::copy_if(here, std::back_inserter(all), [&](const interface_address& one) {
    return !is_usual(one) && one.at.storage.ss_family == usual.storage.ss_family && leads_out(one);
  });
  if (usual.is_loopback()) return {all.front()};
  all = one_a_port(std::move(all));
  if (all.size() > reach::most_rails) all.resize(reach::most_rails);
  return all;
}

/// Both lead to one network, and are not the same host.
bool share_network(const rail& one, const rail& other) {
  if (one.family != other.family || one.bits != other.bits || one.host == other.host) return false;
  const std::size_t whole = one.bits / 8;
  if (!std::equal(one.host.begin(), one.host.begin() + whole, other.host.begin())) return false;
  const unsigned rest = one.bits % 8U;
  return rest == 0 || ((one.host[whole] ^ other.host[whole]) >> (8 - rest)) == 0;
}

std::vector<stream::rail_pair> pairs_of(const reach& first, const reach& second) {
  auto pairs = stream::pair_rails(first, second, share_network);
  if (!pairs.empty()) return pairs;
  // Networks between which there are routers: those that were chosen, in the order of the choice.
  const bool are_chosen = first.is_chosen != 0 && second.is_chosen != 0;
  const std::size_t count = are_chosen ? std::min(first.count, second.count) : 1;
  for (std::size_t i = 0; i < count; ++i) pairs.emplace_back(i, i);
  return pairs;
}

}  // namespace

address rail::at() const noexcept {
  return address::of_bytes(std::span(host).first(family == 4 ? 4 : host.size()), port);
}

bool is_sane(const reach& one) noexcept {
  const auto is_network = [](const rail& each) {
    return each.bits <= (each.family == 4 ? 32 : 128);
  };
  return one.count >= 1 && one.count <= reach::most_rails && one.connections >= 1 &&
         one.connections <= reach::most_connections && std::ranges::all_of(one.all(), is_network);
}

reach find_rails(const address& usual) {
  const char* const chosen = environment::read(environment::interfaces);
  const std::vector<interface_address> all =
      chosen == nullptr ? found_beside(usual) : chosen_by(chosen);
  reach made{.connections = connections_asked_for(), .is_chosen = chosen == nullptr ? 0U : 1U};
  for (const interface_address& each : all) made.rails[made.count++] = describe(each);
  return made;
}

open_rails listen_on_rails(const address& usual) {
  open_rails made{.told = find_rails(beyond_loopback(usual)), .doors = {}};
  for (rail& each : std::span(made.told.rails).first(made.told.count)) {
    made.doors.push_back(listen_at_some_port(each.at(), listening_for::datagrams_too));
    each.port = made.doors.back().at.port();
  }
  return made;
}

paths paths_between(const reach& mine, const reach& theirs, bool is_first) {
  const reach& first = is_first ? mine : theirs;
  const reach& second = is_first ? theirs : mine;
  auto pairs = pairs_of(first, second);
  if (first.is_chosen == 0 && second.is_chosen == 0) stream::drop_slow(pairs, first, second);
  paths result;
  for (std::uint32_t i = 0; i < std::max(mine.connections, theirs.connections); ++i) {
    for (const auto& [of_first, of_second] : pairs) {
      const std::size_t own = is_first ? of_first : of_second;
      const std::size_t other = is_first ? of_second : of_first;
      result.push_back({.rail = own, .to = theirs.rails[other].at()});
    }
  }
  return result;
}

}  // namespace muster::tcp
