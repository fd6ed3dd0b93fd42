// The arrivals of an MPI program's ranks, by what `muster arrivals` is made of.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "tools/library/record.hpp"
#include "tools/mpi/report.hpp"
#include "tools/report/profile.hpp"
#include "transports/shm/measure.hpp"

namespace muster::mpi {
namespace {

/// Leaves at most so many calls of a site, drawn by their numbers: every rank leaves the same, or
/// some of what another leaves.
void thin_out(arrival_log::site& one, std::size_t most) {
  std::uint64_t mask = 0;
  while (one.kept.size() > most && mask != ~std::uint64_t{0}) {
    mask = 2 * mask + 1;
    std::erase_if(one.kept, [mask](const arrival_log::call& each) {
      return (mix_bits(each.sequence) & mask) != 0;
    });
  }
}

std::size_t count_calls(std::span<const arrival_log::site> sites) {
  std::size_t calls = 0;
  for (const arrival_log::site& one : sites) calls += one.kept.size();
  return calls;
}

/// One rank is to read what all of them write, while the user waits for the program's end.
void thin_out(std::vector<arrival_log::site>& sites, std::size_t ranks) {
  constexpr std::size_t most_of_all = 1024 * 1024;
  constexpr std::size_t most_of_site = 1024;
  const std::size_t most = most_of_all / ranks;
  for (std::size_t of_site = most_of_site; of_site > 0; of_site /= 2) {
    for (arrival_log::site& one : sites) thin_out(one, of_site);
    if (count_calls(sites) <= most) return;
  }
}

balance balance_of(const profile::site& one) {
  const profile::figures& seen = one.figures;
  return {.calls = one.calls,
          .average_case = seen.average_case.mean,
          .worst_case = seen.worst_case.mean,
          .most = seen.worst_case.most,
          .time_ns = seen.time_in_call_ns};
}

/// What the time of a message depends on, which a job is made without.
muster::machine measured(const team& of) {
  const muster::machine& known = of.machine();
  const bool knows = known.trip_ns > 0 || known.yield_ns > 0;
  // Only the first rank's is looked at.
  return knows || of.rank() != 0 ? known : shm::measure(shm::ranks_are::threads);
}

}  // namespace

std::string write_arrivals(const team& of, std::vector<arrival_log::site> sites) {
  thin_out(sites, of.size());
  for (arrival_log::site& one : sites) one.fingerprint ^= mix_bits(one.label + 1);
  profile::rank_record record;
  record.rank = of.rank();
  record.ranks = of.size();
  record.machine = measured(of);
  record.sites = std::move(sites);
  return to_text(record);
}

std::map<std::string, balance> judge_arrivals(std::span<const std::string> records) {
  std::vector<profile::rank_record> all;
  for (const std::string& one : records) all.push_back(profile::parse_record(one));
  std::map<std::string, balance> judged;
  for (const profile::site& one : profile::put_together(all).sites) {
    // A rank alone is never late.
    if (one.team_size > 1 && !one.kept.empty()) judged[one.what].add(balance_of(one));
  }
  return judged;
}

}  // namespace muster::mpi
