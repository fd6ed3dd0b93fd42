#include "transports/verbs/port_choice.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/environment/environment.hpp>

namespace muster::verbs {
namespace {

constexpr std::uint16_t full_member = 0x8000;

/// "a, b"; "none"
std::string list_of(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : ", ") + each;
  return text.empty() ? "none" : text;
}

template <class All, class Text>
std::string list_of(const All& all, Text text) {
  std::vector<std::string> texts;
  std::ranges::transform(all, std::back_inserter(texts), text);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
  return list_of(texts);
}

/// A port, and by which of its addresses and partitions it is reached.
struct candidate {
  const device_port* of = nullptr;
  gid_entry gid;
  std::uint16_t pkey_index = 0;
};

std::uint8_t roce_of(const gid_entry& one) {
  if (one.kind == gid_kind::infiniband) return 0;
  return one.kind == gid_kind::roce_v1 ? 1 : 2;
}

rail describe(const candidate& one, std::span<const interface_network> networks) {
  return {.gid = one.gid.gid,
          .lid = one.of->lid,
          .pkey = one.of->pkeys[one.pkey_index],
          .is_ethernet = static_cast<std::uint8_t>(one.of->is_ethernet ? 1 : 0),
          .roce = roce_of(one.gid),
          .mtu = one.of->mtu,
          .bits = network_bits(one.gid, networks),
          .speed = one.of->speed,
          .name = std::string_view(one.of->name())};
}

found_ports told_of(std::span<const candidate> all, const machine_ports& here) {
  found_ports made;
  for (const candidate& each : all) {
    made.told.rails[made.told.count++] = describe(each, here.networks);
    made.ports.push_back({.device = each.of->device,
                          .number = each.of->number,
                          .gid_index = static_cast<std::uint8_t>(each.gid.index),
                          .pkey_index = each.pkey_index});
  }
  return made;
}

void refuse_device(const named_port& one, const machine_ports& here) {
  const auto useless = std::ranges::find(here.useless, one.device, &useless_device::name);
  if (useless != here.useless.end()) refuse(one, useless->why);
  const auto has_name = [&](const device_port& each) { return each.device == one.device; };
  if (std::ranges::any_of(here.ports, has_name)) return;
  refuse(one, "this machine has no such RDMA device; there are: " +
                  list_of(here.ports, [](const device_port& each) { return each.device; }));
}

const device_port& port_named(const named_port& one, const machine_ports& here) {
  refuse_device(one, here);
  std::vector<std::string> numbers;
  for (const device_port& each : here.ports) {
    if (each.device != one.device) continue;
    if (each.number == one.number) return each;
    numbers.push_back(std::to_string(each.number));
  }
  refuse(one, "the device has no port " + std::to_string(one.number) +
                  "; its ports are: " + list_of(numbers));
}

void check_active(const named_port& one, const device_port& port, const machine_ports& here) {
  if (port.is_active) return;
  std::vector<std::string> active;
  for (const device_port& each : here.ports) {
    if (each.is_active) active.push_back(each.name());
  }
  refuse(one, "the port is " + port.state + "; active ones are: " + list_of(active));
}

gid_entry gid_named(const named_port& one, const device_port& port, const machine_ports& here) {
  if (one.gid_index) {
    const auto found = std::ranges::find(port.gids, *one.gid_index, &gid_entry::index);
    if (found != port.gids.end()) return *found;
    refuse(one, "the port has no GID of that index; there are: " +
                    list_of(port.gids, [](const gid_entry& each) {
                      return std::to_string(each.index) + " (" + text_of(each.gid) + ")";
                    }));
  }
  if (const auto best = best_gid(port.gids, here.networks)) return *best;
  refuse(one, "the port has no GID that leads to other machines");
}

std::uint16_t pkey_named(const named_port& one, const device_port& port) {
  if (const auto found = pkey_index(port.pkeys, one.pkey)) return *found;
  std::vector<std::string> there;
  for (const std::uint16_t each : port.pkeys) {
    if (each != 0) there.push_back(key_text(each));
  }
  refuse(one, "the port is in no such partition; its keys are: " + list_of(there));
}

candidate candidate_named(const named_port& one, const machine_ports& here) {
  const device_port& port = port_named(one, here);
  check_active(one, port, here);
  return {.of = &port, .gid = gid_named(one, port, here), .pkey_index = pkey_named(one, port)};
}

bool is_same(const candidate& one, const candidate& other) {
  return one.of == other.of && one.gid.index == other.gid.index &&
         one.pkey_index == other.pkey_index;
}

/// The ports that are of use.
std::vector<candidate> candidates_of(const machine_ports& here) {
  std::vector<candidate> all;
  for (const device_port& each : here.ports) {
    const auto gid = best_gid(each.gids, here.networks);
    const auto pkey = pkey_index(each.pkeys, std::nullopt);
    if (each.is_active && gid && pkey) all.push_back({&each, *gid, *pkey});
  }
  return all;
}

void drop_slow(std::vector<candidate>& all) {
  const auto speed = [](const candidate& one) { return one.of->speed; };
  if (all.empty()) return;
  const std::uint64_t fastest = speed(*std::ranges::max_element(all, {}, speed));
  std::erase_if(all, [&](const candidate& one) { return 2 * std::uint64_t{speed(one)} < fastest; });
}

/// Nearest first; but of each card one port, before any has a second one.
void sort(std::vector<candidate>& all) {
  using key = std::tuple<int, int, std::size_t>;  // which of its card's, distance, place
  std::map<std::string, int> seen;
  std::vector<std::pair<key, candidate>> keyed;
  for (const candidate& each : all) {
    keyed.push_back({{seen[each.of->card]++, each.of->distance, keyed.size()}, each});
  }
  std::ranges::sort(keyed, {}, &std::pair<key, candidate>::first);
  std::ranges::transform(keyed, all.begin(), &std::pair<key, candidate>::second);
}

std::string why_none_of(const machine_ports& here) {
  if (here.ports.empty()) {
    return here.useless.empty() ? "this machine has no RDMA device" : here.useless.front().why;
  }
  const std::string names = list_of(
      here.ports, [](const device_port& each) { return each.name() + " (" + each.state + ")"; });
  const bool is_one_active = std::ranges::any_of(here.ports, &device_port::is_active);
  return is_one_active
             ? "no active port has a GID that leads to other machines, and a partition: " + names
             : "no port is active: " + names;
}

}  // namespace

std::optional<std::uint16_t> pkey_index(std::span<const std::uint16_t> all,
                                        std::optional<std::uint16_t> wanted) {
  std::optional<std::uint16_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_meant = !wanted || ((*wanted ^ all[i]) & ~full_member) == 0;
    if (all[i] == 0 || !is_meant) continue;
    const bool is_full = (all[i] & full_member) != 0;
    if (is_full || !found) found = static_cast<std::uint16_t>(i);
    if (is_full) break;
  }
  return found;
}

found_ports ports_named(std::span<const named_port> names, const machine_ports& here) {
  std::vector<candidate> all;
  for (const named_port& each : names) {
    const candidate one = candidate_named(each, here);
    const auto is_known = [&](const candidate& other) { return is_same(one, other); };
    if (std::ranges::any_of(all, is_known)) continue;
    if (all.size() == reach::most_rails) {
      refuse(each, "a rank has " + std::to_string(reach::most_rails) + " ports at most");
    }
    all.push_back(one);
  }
  found_ports made = told_of(all, here);
  made.told.is_chosen = 1;
  return made;
}

found_ports ports_chosen(const machine_ports& here) {
  std::vector<candidate> all = candidates_of(here);
  drop_slow(all);
  sort(all);
  if (all.size() > reach::most_rails) all.resize(reach::most_rails);
  found_ports made = told_of(all, here);
  if (all.empty()) made.why_none = why_none_of(here);
  return made;
}

found_ports choose_ports(const machine_ports& here) {
  const char* const named = environment::read(environment::verbs_devices);
  return named == nullptr ? ports_chosen(here) : ports_named(parse_port_list(named), here);
}

}  // namespace muster::verbs
