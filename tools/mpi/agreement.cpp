#include "tools/mpi/agreement.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/base/random.hpp>

#include "tools/mpi/errors.hpp"
#include "tools/mpi/next.hpp"

namespace muster::mpi {

namespace {

/// Ends the program with a message, which one rank has to say.
[[noreturn]] void give_up(bool speaks, const std::string& why) {
  if (speaks) end_program(why, 1);
  for (;;) ::pause();  // an abort from here might come before the message
}

constexpr std::uint64_t meaningless = 0;

std::uint64_t digest(const settings& of) {
  std::uint64_t bits =
      mix_bits(static_cast<std::uint64_t>(of.progress.who) * 2 + (of.report ? 1 : 0));
  bits = mix_bits(bits + static_cast<std::uint64_t>(of.net));
  bits = mix_bits(bits + of.choices);
  for (const auto& one : of.enabled) {
    for (const bool form : one) bits = mix_bits(bits + (form ? 1 : 2));
  }
  return bits | 1;
}

/// Says why on this machine nothing is taken.
void complain(const std::string& why) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> machine{};
  int length = 0;
  PMPI_Get_processor_name(machine.data(), &length);
  std::fprintf(stderr, "muster: on %s all calls go to the MPI: %s\n", machine.data(), why.c_str());
}

bool is_multithreaded() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

void check_settings(const std::vector<introduction>& all, std::size_t rank,
                    const std::string& wrong) {
  const auto first_wrong = std::ranges::find(all, meaningless, &introduction::settings);
  if (first_wrong != all.end())
    give_up(first_wrong - all.begin() == static_cast<std::ptrdiff_t>(rank), wrong);
  const auto other = std::ranges::find_if(
      all, [&](const introduction& one) { return one.settings != all[0].settings; });
  if (other == all.end()) return;
  give_up(rank == 0, "rank " + std::to_string(other - all.begin()) +
                         " has other values of MUSTER_ENABLE, MUSTER_NET, MUSTER_PROGRESS, "
                         "MUSTER_REPORT or a variable that chooses an algorithm than rank 0; "
                         "expected the same on all ranks");
}

}  // namespace

self_introduction introduce_self() {
  self_introduction self{.said = {.settings = meaningless,
                                  .has_threads = is_multithreaded(),
                                  .has_hook = has_progress_hook(),
                                  .where = find_whereabouts()}};
  try {
    self.own = settings::from_environment();
    self.said.settings = digest(self.own);
  } catch (const error& why) {
    self.wrong = why.text();
  }
  return self;
}

agreement agree(const self_introduction& self, std::size_t rank,
                const std::vector<introduction>& all) {
  check_settings(all, rank, self.wrong);
  std::vector<whereabouts> where;
  for (const introduction& one : all) where.push_back(one.where);
  return {.own = self.own,
          .found = {.some_have_threads = std::ranges::any_of(all, &introduction::has_threads),
                    .all_have_threads = std::ranges::all_of(all, &introduction::has_threads),
                    .all_have_hooks = std::ranges::all_of(all, &introduction::has_hook)},
          .here = find_neighbors(where, rank)};
}

bool all_joined(bootstrap& near, joining mine, const std::string& why, bool tells) {
  const std::vector<joining> all = tell_all(near, mine);
  const auto first_with = [&](joining how) {
    return static_cast<std::size_t>(std::ranges::find(all, how) - all.begin());
  };
  const std::size_t first_wrong = first_with(joining::wrong_setting);
  if (first_wrong != all.size()) give_up(first_wrong == near.rank(), why);
  const std::size_t first_failed = first_with(joining::failed);
  if (tells && first_failed == near.rank()) complain(why);
  return first_failed == all.size();
}

}  // namespace muster::mpi
