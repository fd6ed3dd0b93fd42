#include "tools/command/info/info.hpp"

#include <fmt/format.h>

#include <iterator>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>
#include <muster/team/topology.hpp>
#include <muster/wire/board.hpp>

#include "algos/catalog.hpp"
#include "tools/command/info/rdma_ports.hpp"
#include "tools/library/progress_choice.hpp"
#include "transports/shm/fence.hpp"
#include "transports/shm/measure.hpp"
#include "transports/tcp/interfaces.hpp"
#include "transports/tcp/rails.hpp"
#include "transports/tcp/reactor.hpp"

namespace muster::cli {
namespace {

std::string number(std::uint32_t value) {
  return value == place::unknown ? "-" : std::to_string(value);
}

std::string size(std::size_t bytes) {
  if (bytes % (1024 * 1024) == 0) return fmt::format("{} MiB", bytes / (1024 * 1024));
  if (bytes % 1024 == 0) return fmt::format("{} KiB", bytes / 1024);
  return fmt::format("{} B", bytes);
}

std::string size_or_never(std::size_t bytes) {
  return bytes == machine::never ? "never" : size(bytes);
}

void add_topology(std::string& text) {
  const topology here = topology::read();
  auto out = std::back_inserter(text);
  fmt::format_to(out, "Topology: {} cores, {} processors that may be used\n", here.cores().size(),
                 here.processors());
  fmt::format_to(out, "  {:>4} {:>9} {:>7} {:>4} {:>3}\n", "core", "processor", "package", "numa",
                 "L3");
  for (const core& each : here.cores()) {
    fmt::format_to(out, "  {:>4} {:>9} {:>7} {:>4} {:>3}\n", number(each.where.core),
                   each.processor, number(each.where.package), number(each.where.numa),
                   number(each.where.l3));
  }
}

void add_figures(std::string& text, const machine& seen) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nMeasured now\n");
  fmt::format_to(out, "  cache line, core to core     {:8.0f} ns one way\n", seen.trip_ns);
  fmt::format_to(out, "  sched_yield, nobody waiting  {:8.0f} ns\n", seen.yield_ns);
  fmt::format_to(out, "  copy in and out of a stage   {:8.1f} GB/s in cache, {:.1f} beyond\n",
                 seen.in_cache.staged, seen.beyond_cache.staged);
  if (seen.foreign_allowed) {
    fmt::format_to(
        out,
        "  process_vm_readv             {:8.1f} GB/s in cache, {:.1f} beyond, {:.0f} ns a "
        "call\n",
        seen.in_cache.foreign, seen.beyond_cache.foreign, seen.foreign_call_ns);
  } else {
    fmt::format_to(out, "  process_vm_readv             not permitted between processes here\n");
  }
  fmt::format_to(out, "  last-level cache             {:>8}\n", size(seen.cache_bytes));
}

void add_decisions(std::string& text, const machine& seen) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nHow messages move between the ranks of a node\n");
  fmt::format_to(out, "  to {:>8}   beside the arrival flag, in its cache line\n",
                 size(wire::inline_bytes));
  fmt::format_to(out, "  to {:>8}   through a small stage: {}, or {} where all wait for all\n",
                 size(wire::tiny_stage_bytes), wire::lanes, wire::exchange_stages);
  fmt::format_to(out, "  to {:>8}   the same, through larger ones\n",
                 size(wire::short_stage_bytes));
  fmt::format_to(out, "  longer        in items of up to {}, {} ahead, through shared memory;\n",
                 size(wire::segment_bytes), wire::staged_segments);
  fmt::format_to(out,
                 "                with one copy from a shared_buffer, or between ranks that are\n"
                 "                threads of one process\n");
  fmt::format_to(out, "  kernel copies, instead of staging, for blocks of at least\n");
  for (const std::size_t readers : {1, 7}) {
    fmt::format_to(out, "                {:<18} {} in cache, {} beyond\n",
                   fmt::format("{} reader{}:", readers, readers == 1 ? "" : "s"),
                   size_or_never(seen.foreign_from(readers, 0)),
                   size_or_never(seen.foreign_from(readers, seen.cache_bytes + 1)));
  }
  if (seen.foreign_allowed) {
    fmt::format_to(
        out,
        "                where ranks have a core each, both are tried for blocks of one\n"
        "                reader, from {} on\n",
        size(machine::least_unstaged_bytes));
  }
  fmt::format_to(out, "\nSleeping ranks are woken through eventfds; {}\n",
                 shm::asymmetric_fence_works()
                     ? "announcements need no fence (membarrier)"
                     : "announcements carry a full fence (no membarrier here)");
}

std::string interface_with(const tcp::address& one) {
  for (const tcp::interface_address& each : tcp::interface_addresses()) {
    if (each.at.is_same_host(one)) return each.interface;
  }
  return "?";
}

/// Without the port.
std::string host_of(const tcp::address& one) {
  const std::string text = one.text();
  return text.substr(0, text.rfind(':'));
}

void add_rails(std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nRails, by which ranks of other machines are reached by TCP\n");
  try {
    const tcp::reach here = tcp::find_rails(tcp::first_address_beyond_loopback());
    for (const tcp::rail& each : here.all()) {
      const std::string speed =
          each.speed == 0 ? "of unknown speed" : fmt::format("{} Mbit/s", each.speed);
      fmt::format_to(out, "  {:<10} {:<24} {}, {} connection{} to each rank\n",
                     interface_with(each.at()), host_of(each.at()), speed, here.connections,
                     here.connections == 1 ? "" : "s");
    }
  } catch (const error& none) {
    fmt::format_to(out, "  none: {}\n", none.what());
  }
}

void add_reactor(std::string& text) {
  std::string why;
  const auto chosen = tcp::chosen_reactor();
  const auto here = tcp::make_reactor(chosen, &why);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  What comes is learnt by {}{}\n", tcp::name(here->which()),
                 chosen         ? " (MUSTER_REACTOR)"
                 : !why.empty() ? ": io_uring is not to be had: " + why
                                : "");
}

void add_catalog(std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nAlgorithms, the preferred first (MUSTER_ALLREDUCE=srm chooses by hand)\n");
  for (const algorithm& row : algos::catalog()) {
    fmt::format_to(out, "  {:<10} {:<12} {:<10} {}\n", name(row.what), row.id, row.source,
                   row.summary);
  }
}

std::string name_of(const world_options& of) {
  if (of.progress == progress::caller) return "calls that wait for them, or ask whether they ended";
  if (of.processor >= 0)
    return fmt::format("a thread of each process, on processor {}", of.processor);
  return fmt::format("a thread of each process, {}", name_of(of.thread_on));
}

}  // namespace

std::string describe_progress() {
  const char* const asked = environment::read(environment::progress);
  const world_options chosen = with_progress_asked_for({});
  const topology usable = topology::read();
  const topology all = topology::read(topology::of::machine);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "Who drives operations that are under way\n");
  fmt::format_to(
      out, "  a world by itself    {} ({})\n", name_of(chosen),
      asked == nullptr ? "MUSTER_PROGRESS is not set" : fmt::format("MUSTER_PROGRESS={}", asked));
  fmt::format_to(
      out,
      "                       unless it asks for something else and the variable is not set\n");
  fmt::format_to(out, "  in Boost.Asio        the io_context, whatever MUSTER_PROGRESS says\n");
  fmt::format_to(out, "  in an MPI program    calls of MPI, unless MUSTER_PROGRESS is set\n");
  fmt::format_to(out,
                 "Cores: {} on this machine, {} that this process may use; `muster run` binds a "
                 "rank to each, so that\n  thread:spare has a core for each of {} ranks at "
                 "most\n",
                 all.cores().size(), usable.cores().size(), all.cores().size() / 2);
  return text;
}

std::string describe_machine() {
  std::string text;
  add_topology(text);
  const machine seen = shm::measure(shm::ranks_are::processes);
  add_figures(text, seen);
  add_decisions(text, seen);
  add_rails(text);
  add_reactor(text);
  text += "\nPorts, by which ranks of other machines are reached by RDMA\n";
  text += describe_rdma_ports();
  add_catalog(text);
  return text;
}

}  // namespace muster::cli
