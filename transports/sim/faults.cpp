#include "transports/sim/faults.hpp"

#include <string>

#include <muster/base/error.hpp>

namespace muster::sim {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& expected) {
  throw error(errc::invalid_argument, "simulation: faults." + what + "; expected " + expected);
}

void require_share(const char* name, double share) {
  if (!(share >= 0 && share <= 1)) {
    refuse(std::string(name) + " is " + std::to_string(share), "a share from 0 to 1");
  }
}

void require_time(const char* name, double ns) {
  constexpr double longest = 1e15;  // 11 days
  if (!(ns >= 0 && ns <= longest)) {
    refuse(std::string(name) + " is " + std::to_string(ns), "a time from 0 to 1e15 ns");
  }
}

void require_number(const char* name, const char* what, std::size_t number, std::size_t count) {
  if (number < count) return;
  refuse(std::string(name) + " names " + what + " " + std::to_string(number),
         std::string("a ") + what + " from 0 to " + std::to_string(count - 1));
}

void require_stretch(const char* name, double from_ns, double until_ns) {
  require_time(name, from_ns);
  if (until_ns == faults::for_ever) return;
  require_time(name, until_ns);
  if (until_ns < from_ns) refuse(std::string(name) + " end before they begin", "an end after that");
}

}  // namespace

void require_sense(const faults& wrong, std::size_t ranks, std::size_t nodes, std::size_t rails) {
  require_share("delayed", wrong.delayed);
  require_share("repeated", wrong.repeated);
  require_time("longest_delay_ns", wrong.longest_delay_ns);
  require_time("noticed_after_ns", wrong.noticed_after_ns);
  require_time("resent_after_ns", wrong.resent_after_ns);
  require_time("silence_ns", wrong.silence_ns);
  for (const faults::death& each : wrong.deaths) {
    require_time("deaths.at_ns", each.at_ns);
    require_number("deaths", "rank", each.rank, ranks);
  }
  for (const faults::host_death& each : wrong.host_deaths) {
    require_time("host_deaths.at_ns", each.at_ns);
    require_number("host_deaths", "node", each.node, nodes);
  }
  for (const faults::outage& each : wrong.outages) {
    require_stretch("outages", each.from_ns, each.until_ns);
    require_number("outages", "node", each.node, nodes);
    if (each.rail != faults::all_rails) require_number("outages", "rail", each.rail, rails);
  }
  for (const faults::stop& each : wrong.stops) {
    require_stretch("stops", each.from_ns, each.until_ns);
    require_number("stops", "rank", each.rank, ranks);
    if (each.until_ns == faults::for_ever) refuse("stops has no end", "one; or a death");
  }
}

outages::outages(const faults& of) {
  for (const faults::outage& each : of.outages) {
    const bool ends = each.until_ns != faults::for_ever;
    all_.push_back({.node = each.node,
                    .rail = each.rail,
                    .from = from_ns(each.from_ns),
                    .until = ends ? from_ns(each.until_ns) : never});
  }
}

picoseconds outages::passes(std::size_t node, std::size_t rail, picoseconds when) const noexcept {
  // One may begin before another has ended.
  for (bool waits = true; waits;) {
    waits = false;
    for (const outage& each : all_) {
      if (each.node != node || when < each.from || when >= each.until) continue;
      if (each.rail != faults::all_rails && each.rail != rail) continue;
      if (each.until == never) return never;
      when = each.until;
      waits = true;
    }
  }
  return when;
}

}  // namespace muster::sim
