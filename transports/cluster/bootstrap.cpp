#include "transports/cluster/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/fixed_text.hpp>
#include <muster/base/version.hpp>

#include "transports/shm/bootstrap.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/tcp/footprint.hpp"
#include "transports/tcp/interfaces.hpp"
#include "transports/tcp/rails.hpp"
#include "transports/tcp/zero_copy_sends.hpp"
#include "transports/verbs/ports.hpp"

namespace muster::cluster {
namespace {

/// Between machines: below, a copy more costs less than asking.
constexpr std::size_t zero_copy_from = (std::size_t{32} << 10) + 1;

constexpr std::size_t untold = ~std::size_t{0};

/// What all versions say first, and in this form.
using version_text = fixed_text<32>;

/// What a process that is to become a rank says of itself.
struct introduction {
  shm::handshake who;
  tcp::reach at;
  verbs::reach at_rdma;
  std::size_t lowest_told = untold;  ///< `told_machine::lowest`
};

/// How the ranks of a machine have come together.
struct outcome {
  bool failed = false;
  fixed_text<504> why;
  muster::machine measured;
  std::size_t link_bytes = 0;  ///< that each of them may take for links
  clock_relation clock;        ///< by the lowest rank of each machine
};

/// The same of ranks that know already which of them share a machine.
struct here_made {
  outcome how;
  place where;
  std::size_t lowest;  ///< of its machine
};

void check_versions(const std::vector<version_text>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].view() == all[0].view()) continue;
    throw error(errc::bootstrap,
                "rank " + std::to_string(rank) + " has Muster " + std::string(all[rank].view()) +
                    ", rank 0 has " + std::string(all[0].view()) + "; expected one version",
                rank);
  }
}

void check_reaches(const std::vector<introduction>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!verbs::is_sane(all[rank].at_rdma)) {
      throw error(errc::bootstrap,
                  "rank " + std::to_string(rank) +
                      " says that it is reached by RDMA in a way that cannot be",
                  rank);
    }
    if (tcp::is_sane(all[rank].at)) continue;
    throw error(errc::bootstrap,
                "rank " + std::to_string(rank) +
                    " says that it is reached in a way that cannot be; expected 1 to " +
                    std::to_string(tcp::reach::most_rails) + " rails, and 1 to " +
                    std::to_string(tcp::reach::most_connections) + " connections on each",
                rank);
  }
}

/// Processes of one machine can share memory, but for those that have been given another.
auto machine_of(const introduction& rank) {
  return std::tuple(rank.lowest_told, rank.who.machine.view(), rank.who.network, rank.who.processes,
                    rank.who.user);
}

/// Machines are numbered in the order of their lowest ranks.
/// \param lowest of the machine of each rank
std::vector<place> number_machines(std::vector<place> places,
                                   const std::vector<std::size_t>& lowest) {
  std::vector<std::uint32_t> number_of(places.size());
  std::uint32_t machines = 0;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (lowest[rank] == rank) number_of[rank] = machines++;
    places[rank].node = number_of[lowest[rank]];
  }
  return places;
}

/// The same of ranks that say where they are.
std::vector<place> places_of(const std::vector<introduction>& all) {
  std::vector<place> places;
  std::vector<std::size_t> first;  // of each machine
  std::vector<std::size_t> lowest;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto same = [&](std::size_t other) {
      return machine_of(all[other]) == machine_of(all[rank]);
    };
    const auto found = std::ranges::find_if(first, same);
    lowest.push_back(found == first.end() ? rank : *found);
    if (found == first.end()) first.push_back(rank);
    places.push_back(all[rank].who.where);
  }
  return number_machines(std::move(places), lowest);
}

std::vector<std::size_t> ranks_on(std::uint32_t node, const std::vector<place>& places) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].node == node) ranks.push_back(rank);
  }
  return ranks;
}

outcome failed_since(std::string_view why) {
  return {
      .failed = true, .why = fixed_text<504>(why), .measured = {}, .link_bytes = 0, .clock = {}};
}

/// The memory of this machine's ranks, or why there is none.
std::optional<shm::job> make_here(bootstrap& near, const shm::bootstrap_options& options,
                                  std::optional<told_machine> told, outcome& how) {
  try {
    shm::job made = told && told->memory ? std::move(*told->memory) : shm::make_job(near, options);
    how.measured = made.machine();
    how.link_bytes = shm::link_memory_asked_for();
    return made;
  } catch (const error& why) {
    how = failed_since(why.text());
  } catch (const std::exception& why) {
    how = failed_since(why.what());
  }
  return std::nullopt;
}

/// How this rank reaches others by RDMA; empty: none.
std::vector<verbs::paths> rdma_paths(const std::vector<introduction>& all, std::size_t rank,
                                     const std::vector<place>& places) {
  std::vector<verbs::paths> ways(all.size());
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    if (places[peer].node == places[rank].node) continue;
    ways[peer] = verbs::paths_between(all[rank].at_rdma, all[peer].at_rdma, rank < peer);
  }
  const bool any = std::ranges::any_of(ways, [](const auto& one) { return !one.empty(); });
  return any ? ways : std::vector<verbs::paths>();
}

/// Where ranks are to reach each other by RDMA alone: why this one does not. Empty: it does.
std::string why_not_by_rdma(const std::vector<verbs::paths>& ways, std::size_t rank,
                            const std::vector<place>& places, const std::string& why_none) {
  for (std::size_t peer = 0; peer < places.size(); ++peer) {
    if (places[peer].node == places[rank].node || (!ways.empty() && !ways[peer].empty())) continue;
    return "RDMA is asked for alone, and rank " + std::to_string(rank) + " does not reach rank " +
           std::to_string(peer) +
           " by RDMA: " + (why_none.empty() ? "their ports share no network" : why_none);
  }
  return {};
}

/// Where ranks may choose: what rank 0 says where it uses TCP to one although either has RDMA.
/// Empty: nothing.
std::string why_by_tcp(const std::vector<introduction>& all, const std::vector<verbs::paths>& ways,
                       const std::vector<place>& places) {
  for (std::size_t peer = 1; peer < all.size(); ++peer) {
    const std::array ends{std::size_t{0}, peer};
    const auto has_rails = [&](std::size_t rank) { return all[rank].at_rdma.count != 0; };
    if (places[peer].node == places[0].node || std::ranges::none_of(ends, has_rails)) continue;
    if (!ways.empty() && !ways[peer].empty()) continue;
    const auto without = std::ranges::find_if_not(ends, has_rails);
    return "ranks 0 and " + std::to_string(peer) + " talk by TCP, not by RDMA: " +
           (without == ends.end()
                ? "their ports share no network"
                : "rank " + std::to_string(*without) + " has none, or is not to use it");
  }
  return {};
}

/// That two ranks can have at most.
std::size_t most_subflows(const std::vector<introduction>& all) {
  std::size_t rails = 0;
  std::size_t connections = 0;
  for (const introduction& each : all) {
    rails = std::max<std::size_t>(rails, each.at.count);
    connections = std::max<std::size_t>(connections, each.at.connections);
  }
  return rails * connections;
}

/// \param subflows that two ranks can have at most
muster::machine agree(const std::vector<outcome>& all, std::size_t subflows) {
  const auto failed = std::ranges::find_if(all, &outcome::failed);
  if (failed != all.end()) {
    const auto rank = static_cast<std::size_t>(failed - all.begin());
    throw error(
        errc::bootstrap,
        "on the machine of rank " + std::to_string(rank) + ": " + std::string(failed->why.view()),
        rank);
  }
  muster::machine agreed = all[0].measured;
  std::size_t link_bytes = all[0].link_bytes;
  for (const outcome& each : all) {
    agreed.message_piece = std::min(agreed.message_piece, each.measured.message_piece);
    link_bytes = std::min(link_bytes, each.link_bytes);
  }
  // A machine's own memory knows only of its own ranks.
  agreed.message_piece =
      std::min(agreed.message_piece, tcp::window_within(link_bytes, all.size(), subflows) / 2);
  agreed.zero_copy_from = zero_copy_from;
  return agreed;
}

}  // namespace

bootstrapped make_job(rendezvous& among, const tcp::job_key& key, std::optional<told_machine> told,
                      std::optional<verbs::fabric> by) {
  check_versions(tell_all(among, version_text(version)));
  tcp::open_rails rails = tcp::listen_on_rails(among.address_for_others());
  const verbs::fabric asked = by ? *by : verbs::fabric_asked_for();
  const verbs::found_ports ports =
      asked == verbs::fabric::tcp ? verbs::found_ports() : verbs::find_ports();
  const introduction mine{.who = shm::describe_this_process(),
                          .at = rails.told,
                          .at_rdma = ports.told,
                          .lowest_told = told ? told->lowest : untold};
  const std::vector<introduction> all = tell_all(among, mine);
  check_reaches(all);
  const std::vector<place> places = places_of(all);
  const std::uint32_t node = places[among.rank()].node;
  outcome how;
  const std::vector<std::size_t> ranks_here = ranks_on(node, places);
  part_of_rendezvous near(among, ranks_here);
  std::optional<shm::job> here = make_here(near, {}, std::move(told), how);
  std::vector<verbs::paths> by_rdma = rdma_paths(all, among.rank(), places);
  if (asked == verbs::fabric::verbs && !how.failed) {
    const std::string why = why_not_by_rdma(by_rdma, among.rank(), places, ports.why_none);
    how.failed = !why.empty();
    how.why = fixed_text<504>(why);
  }
  if (asked == verbs::fabric::automatic && among.rank() == 0) {
    const std::string why = why_by_tcp(all, by_rdma, places);
    if (!why.empty()) std::fprintf(stderr, "muster: %s; `muster info` says more\n", why.c_str());
  }
  if (among.rank() == ranks_here.front()) how.clock = among.relate_clock();
  const std::vector<outcome> outcomes = tell_all(among, how);
  const muster::machine agreed = agree(outcomes, most_subflows(all));

  std::vector<tcp::paths> peers(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (places[rank].node == node) continue;
    peers[rank] = tcp::paths_between(mine.at, all[rank].at, among.rank() < rank);
  }
  // What says that it is another machine may be a container of this one.
  const auto runs_here = [&](const introduction& rank) {
    return rank.who.machine.view() == mine.who.machine.view();
  };
  const auto sharing = static_cast<std::size_t>(std::ranges::count_if(all, runs_here));
  const std::size_t neighbors = sharing - ranks_here.size();
  return {.of = job(std::move(*here), places, node, agreed, neighbors),
          .by = {.how = {.rank = among.rank(),
                         .key = key,
                         .window = 2 * agreed.message_piece,
                         .timeout = tcp::timeout_asked_for(),
                         .zero_copy_from = tcp::zero_copy_asked_for(),
                         .reactor = tcp::chosen_reactor()},
                 .doors = std::move(rails.doors),
                 .peers = std::move(peers),
                 .by_rdma = std::move(by_rdma),
                 .ports = ports,
                 .most_queue_pairs = verbs::queue_pairs_asked_for()},
          .clock = outcomes[ranks_here.front()].clock};
}

job make_job(bootstrap& all, bootstrap& near, std::size_t lowest,
             const shm::bootstrap_options& how) {
  here_made mine{.how = {}, .where = {}, .lowest = lowest};
  std::optional<shm::job> here = make_here(near, how, {}, mine.how);
  if (here) mine.where = here->places()[near.rank()];
  std::vector<outcome> outcomes;
  std::vector<place> places;
  std::vector<std::size_t> lowests;
  for (const here_made& each : tell_all(all, mine)) {
    outcomes.push_back(each.how);
    places.push_back(each.where);
    lowests.push_back(each.lowest);
  }
  places = number_machines(std::move(places), lowests);
  const muster::machine agreed = agree(outcomes, 1);
  return {std::move(*here), places, places[all.rank()].node, agreed};
}

}  // namespace muster::cluster
