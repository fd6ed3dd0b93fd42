#include "tools/shim/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace muster::mpi {
namespace {

/// Of each rank, where it may run.
std::vector<cpu_set_t> tell_processors(bootstrap& among) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ::sched_getaffinity(0, sizeof mine, &mine);
  return tell_all(among, mine);
}

std::size_t count_usable(const std::vector<cpu_set_t>& all) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  for (const cpu_set_t& one : all) CPU_OR(&usable, &usable, &one);
  return static_cast<std::size_t>(CPU_COUNT(&usable));
}

std::string line_of(const char* file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  return line;
}

/// Of the processes that are one to the scheduler.
std::size_t scheduling_group() {
  if (line_of("/proc/sys/kernel/sched_autogroup_enabled") != "1") return 0;
  const std::string group = line_of("/proc/self/autogroup");  // "/autogroup-123 nice 0"
  return std::hash<std::string>()(group.substr(0, group.find(' ')));
}

}  // namespace

std::optional<int> spare_core(bootstrap& among) {
  const std::vector<cpu_set_t> all = tell_processors(among);
  const auto is_bound = [](const cpu_set_t& one) { return CPU_COUNT(&one) == 1; };
  if (std::ranges::none_of(all, is_bound)) {
    return count_usable(all) >= 2 * among.size() ? std::optional(-1) : std::nullopt;
  }
  const auto processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<int> spare;
  for (int processor = 0; processor < processors; ++processor) {
    const bool taken = std::ranges::any_of(all, [&](const cpu_set_t& one) {
      return is_bound(one) && CPU_ISSET(static_cast<unsigned>(processor), &one);
    });
    if (!taken) spare.push_back(processor);
  }
  if (spare.size() < among.size()) return std::nullopt;
  return spare[among.rank()];
}

bool yielding_is_in_vain(bootstrap& among) {
  const std::size_t usable = count_usable(tell_processors(among));
  const bool share_cores = usable != 0 && usable < among.size();  // 0: more than can be told
  const std::vector<std::size_t> groups = tell_all(among, scheduling_group());
  return share_cores &&
         std::ranges::adjacent_find(groups, std::ranges::not_equal_to()) != groups.end();
}

}  // namespace muster::mpi
