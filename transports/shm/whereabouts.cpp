#include "transports/shm/whereabouts.hpp"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <string>

#include "transports/shm/first_line.hpp"
#include "transports/shm/trip.hpp"

namespace muster::shm {
namespace {

/// The lowest of the processors that `file` lists, if it lists all that are wanted.
std::uint32_t lowest_of_all(const std::string& file, std::span<const int> wanted) {
  const std::string list = first_line(file);
  const auto listed = [&list](int processor) { return lists_cpu(list, processor); };
  if (!std::ranges::all_of(wanted, listed)) return place::unknown;
  return static_cast<std::uint32_t>(std::stoul(list));  // lists are ascending
}

/// Where the NUMA node of a processor lists its own: the processor's folder leads to it.
std::string numa_list(const std::string& processor) {
  const std::unique_ptr<DIR, decltype([](DIR* folder) { ::closedir(folder); })> folder(
      ::opendir(processor.c_str()));
  if (!folder) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with("node")) return processor + "/" + name + "/cpulist";
  }
  return {};
}

}  // namespace

place common_place(std::span<const int> processors) {
  place common;
  if (processors.empty()) return common;
  const std::string first = "/sys/devices/system/cpu/cpu" + std::to_string(processors.front());
  common.package = lowest_of_all(first + "/topology/core_siblings_list", processors);
  common.numa = lowest_of_all(numa_list(first), processors);
  common.l3 = lowest_of_all(first + "/cache/index3/shared_cpu_list", processors);
  common.core = lowest_of_all(first + "/topology/thread_siblings_list", processors);
  return common;
}

}  // namespace muster::shm
