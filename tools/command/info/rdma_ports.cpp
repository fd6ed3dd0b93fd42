#include "tools/command/info/rdma_ports.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <vector>

#include <muster/base/error.hpp>

#include "transports/verbs/device.hpp"
#include "transports/verbs/nearness.hpp"
#include "transports/verbs/port_choice.hpp"
#include "transports/verbs/userfault_monitor.hpp"

namespace muster::cli {
namespace {

std::string speed_of(const verbs::device_port& one) {
  return one.speed == 0 ? "of unknown speed" : fmt::format("{} Mbit/s", one.speed);
}

/// `ibv_mtu` numbers the powers of two from 256 bytes on, beginning with 1.
int bytes_of_mtu(std::uint8_t mtu) {
  constexpr int before_least = 128;
  return before_least << mtu;
}

std::string whereabouts_of(const verbs::device_port& one) {
  if (one.node < 0) return "NUMA node unknown";
  const char* const nearness = one.distance <= verbs::nearest ? "near" : "far";
  return fmt::format("NUMA node {}: {}, {}", one.node, nearness, one.distance);
}

std::string line_of(const verbs::device_port& one) {
  return fmt::format("  {:<12} {}, {}, {}, {}", one.name(), one.state,
                     one.is_ethernet ? "Ethernet" : "InfiniBand", speed_of(one),
                     whereabouts_of(one));
}

std::string address_of(const verbs::rail& one, const verbs::port& in) {
  const std::string kind = one.is_ethernet == 0 ? "" : fmt::format(", RoCE v{}", one.roce);
  const bool is_known = one.bits < 8 * one.gid.size();
  const int before = verbs::is_ipv4(one.gid) ? 96 : 0;  // its bits in a GID
  return fmt::format("GID {} {}{}{}, key {:#06x}, MTU {}", in.gid_index, verbs::text_of(one.gid),
                     is_known ? fmt::format("/{}", one.bits - before) : "", kind, one.pkey,
                     bytes_of_mtu(one.mtu));
}

bool is_port(const verbs::port& one, const verbs::device_port& other) {
  return one.device == other.device && one.number == other.number;
}

std::string queue_pairs_of(const verbs::rail& one, const verbs::port& in) {
  try {
    return fmt::format("up to {} queue pairs, one for each rank that is talked to",
                       verbs::device(in, one).most_queue_pairs());
  } catch (const error& why) {
    return std::string("cannot be used: ") + why.what();
  }
}

std::string locked_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited"
                                         : fmt::format("{} KiB", limit.rlim_cur >> 10);
}

/// What a process has besides ports.
void add_memory(std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  Memory that may be locked: {}\n", locked_memory());
  if (verbs::userfault_monitor::make()) {
    text += "  Buffers stay registered: userfaultfd tells what memory goes back to the system\n";
  } else {
    fmt::format_to(out, "  Buffers are registered for each message: no userfaultfd: {}\n",
                   std::strerror(errno));
  }
}

void add_used(std::string& text, const verbs::found_ports& found,
              const verbs::machine_ports& here) {
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < found.ports.size(); ++i) {
    const verbs::port& one = found.ports[i];
    const auto seen = std::ranges::find_if(
        here.ports, [&](const verbs::device_port& each) { return is_port(one, each); });
    fmt::format_to(out, "{0}\n{1:15}{2}\n{1:15}{3}\n", line_of(*seen), "",
                   address_of(found.told.rails[i], one), queue_pairs_of(found.told.rails[i], one));
  }
}

void add_others(std::string& text, const verbs::found_ports& found,
                const verbs::machine_ports& here) {
  auto out = std::back_inserter(text);
  for (const verbs::device_port& each : here.ports) {
    const bool is_used = std::ranges::any_of(
        found.ports, [&](const verbs::port& one) { return is_port(one, each); });
    if (!is_used) fmt::format_to(out, "{}; not used\n", line_of(each));
  }
  for (const verbs::useless_device& each : here.useless) {
    if (each.why != found.why_none) fmt::format_to(out, "  not used: {}\n", each.why);
  }
}

}  // namespace

std::string describe_rdma_ports() {
  const verbs::machine_ports here = verbs::read_ports();
  verbs::found_ports found;
  try {
    found = verbs::choose_ports(here);
  } catch (const error& wrong) {
    found.why_none = wrong.text();
  }
  std::string text;
  add_used(text, found, here);
  if (!found.why_none.empty()) text += "  none: " + found.why_none + '\n';
  add_others(text, found, here);
  if (!found.ports.empty()) add_memory(text);
  return text;
}

}  // namespace muster::cli
