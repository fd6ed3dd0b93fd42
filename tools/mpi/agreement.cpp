#include "tools/mpi/agreement.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/base/random.hpp>

#include "tools/mpi/patient_wait.hpp"

namespace muster::mpi {

communicator_bootstrap::communicator_bootstrap(MPI_Comm of) : of_(of) {
  PMPI_Comm_rank(of, &rank_);
  PMPI_Comm_size(of, &size_);
}

void communicator_bootstrap::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  static const auto beneath = find_next<decltype(&PMPI_Iallgather)>("PMPI_Iallgather");
  const int bytes = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  beneath(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, of_, &request);
  wait_patiently(request);
}

namespace {

/// Ends the program with a message, which one rank has to say.
[[noreturn]] void give_up(bool speaks, const std::string& why) {
  if (speaks) {
    std::fprintf(stderr, "muster: %s\n", why.c_str());
    // MPICH's launcher forgets what it has not passed on when it is told to end the program.
    constexpr unsigned long_enough_us = 200'000;
    ::usleep(long_enough_us);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }
  for (;;) ::pause();  // an abort from here might come before the message
}

constexpr std::uint64_t meaningless = 0;

std::uint64_t digest(const settings& of) {
  std::uint64_t bits =
      mix_bits(static_cast<std::uint64_t>(of.progress.who) * 2 + (of.report ? 1 : 0));
  bits = mix_bits(bits + static_cast<std::uint64_t>(of.net));
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

/// The first rank to say so; their number if none does.
template <class T>
std::size_t first_with(const std::vector<T>& all, T what) {
  return static_cast<std::size_t>(std::ranges::find(all, what) - all.begin());
}

}  // namespace

settings agree_on_settings(communicator_bootstrap& world) {
  settings own;
  std::uint64_t mine = meaningless;
  std::string wrong;
  try {
    own = settings::from_environment();
    mine = digest(own);
  } catch (const error& why) {
    wrong = why.text();
  }
  const std::vector<std::uint64_t> all = tell_all(world, mine);
  const std::size_t first_wrong = first_with(all, meaningless);
  if (first_wrong != all.size()) give_up(first_wrong == world.rank(), wrong);
  const auto other = std::ranges::find_if(all, [&](std::uint64_t one) { return one != all[0]; });
  if (other != all.end()) {
    give_up(
        world.rank() == 0,
        "rank " + std::to_string(other - all.begin()) +
            " has other values of MUSTER_ENABLE, MUSTER_NET, MUSTER_PROGRESS or MUSTER_REPORT than "
            "rank 0; expected the same on all ranks");
  }
  return own;
}

conditions agree_on_conditions(communicator_bootstrap& world, const tending& tend) {
  const auto threads = tell_all(world, static_cast<std::uint8_t>(is_multithreaded()));
  conditions result{.some_have_threads = std::ranges::any_of(threads, std::identity()),
                    .all_have_threads = std::ranges::all_of(threads, std::identity()),
                    .hook = hook_into_progress(tend, result.some_have_threads)};
  result.hook = std::ranges::min(tell_all(world, result.hook));
  return result;
}

bool all_joined(communicator_bootstrap& near, joining mine, const std::string& why, bool tells) {
  const std::vector<joining> all = tell_all(near, mine);
  const std::size_t first_wrong = first_with(all, joining::wrong_setting);
  if (first_wrong != all.size()) give_up(first_wrong == near.rank(), why);
  const std::size_t first_failed = first_with(all, joining::failed);
  if (tells && first_failed == near.rank()) complain(why);
  return first_failed == all.size();
}

}  // namespace muster::mpi
