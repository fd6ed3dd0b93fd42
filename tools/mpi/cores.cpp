#include "tools/mpi/cores.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>

namespace muster::mpi {
namespace {

std::string line_of(const char* file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  return line;
}

std::size_t scheduling_group() {
  if (line_of("/proc/sys/kernel/sched_autogroup_enabled") != "1") return 0;
  const std::string group = line_of("/proc/self/autogroup");  // "/autogroup-123 nice 0"
  return std::hash<std::string>()(group.substr(0, group.find(' ')));
}

/// How many processors any of them may use.
std::size_t count_usable(std::span<const share_of_cores> all) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  for (const share_of_cores& one : all) CPU_OR(&usable, &usable, &one.processors);
  return static_cast<std::size_t>(CPU_COUNT(&usable));
}

}  // namespace

share_of_cores find_share_of_cores() {
  share_of_cores mine{.processors = {}, .group = scheduling_group()};
  ::sched_getaffinity(0, sizeof mine.processors, &mine.processors);
  return mine;
}

bool yielding_is_in_vain(std::span<const share_of_cores> all) {
  const std::size_t usable = count_usable(all);
  const bool share_cores = usable != 0 && usable < all.size();  // 0: more than can be told
  const bool share_groups = std::ranges::all_of(
      all, [&](const share_of_cores& one) { return one.group == all.front().group; });
  return share_cores && !share_groups;
}

}  // namespace muster::mpi
