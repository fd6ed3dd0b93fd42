#include "tools/shim/spare_core.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace muster::mpi {

std::optional<int> spare_core(bootstrap& among) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ::sched_getaffinity(0, sizeof mine, &mine);
  const std::vector<cpu_set_t> all = tell_all(among, mine);
  const auto processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const auto ranks = static_cast<int>(among.size());
  const auto is_bound = [](const cpu_set_t& one) { return CPU_COUNT(&one) == 1; };
  if (std::ranges::none_of(all, is_bound)) {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    for (const cpu_set_t& one : all) CPU_OR(&usable, &usable, &one);
    return CPU_COUNT(&usable) >= 2 * ranks ? std::optional(-1) : std::nullopt;
  }
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

}  // namespace muster::mpi
