// What the shim finds out about the cores of processes that an MPI started.

#include "tools/mpi/cores.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include <muster/progress/affinity.hpp>

#include "tests/transports/shm/rank_processes.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t ranks = 3;

/// Whether the system gives sessions their shares of processors.
bool sessions_have_shares() {
  char answer = '0';
  std::ifstream("/proc/sys/kernel/sched_autogroup_enabled") >> answer;
  return answer == '1';
}

/// The answer of all ranks, on one processor, each in a session of its own or all in this one.
std::vector<std::string> whether_yielding_is_in_vain(bool own_sessions) {
  return on_processes(ranks, [own_sessions](bootstrap& with) -> std::string {
    bind_to(0);
    if (own_sessions && ::setsid() < 0) return "no session of its own";
    const auto all = tell_all(with, mpi::find_share_of_cores());
    return mpi::yielding_is_in_vain(all) ? "in vain" : "";
  });
}

TEST_CASE("ranks that share a core in one session") {
  CHECK(whether_yielding_is_in_vain(false) == std::vector<std::string>(ranks, ""));
}

TEST_CASE("ranks that share a core, each in a session of its own") {
  const std::string expected = sessions_have_shares() ? "in vain" : "";
  CHECK(whether_yielding_is_in_vain(true) == std::vector<std::string>(ranks, expected));
}

}  // namespace
}  // namespace muster::testing
