#include "transports/shm/whereabouts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "transports/shm/trip.hpp"

namespace muster::shm {
namespace {

/// The lowest of the processors that `file` lists, if it lists all that are wanted.
std::uint32_t lowest_of_all(const std::filesystem::path& file, std::span<const int> wanted) {
  std::string list;
  if (!std::getline(std::ifstream(file), list)) return place::unknown;
  const auto listed = [&list](int processor) { return lists_cpu(list, processor); };
  if (!std::ranges::all_of(wanted, listed)) return place::unknown;
  return static_cast<std::uint32_t>(std::stoul(list));  // lists are ascending
}

/// Where the NUMA node of a processor lists its own: the processor's folder leads to it.
std::filesystem::path numa_list(const std::filesystem::path& processor) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(processor, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("node")) return entry.path() / "cpulist";
  }
  return {};
}

}  // namespace

place common_place(std::span<const int> processors) {
  place common;
  if (processors.empty()) return common;
  const std::filesystem::path first =
      "/sys/devices/system/cpu/cpu" + std::to_string(processors.front());
  common.package = lowest_of_all(first / "topology/core_siblings_list", processors);
  common.numa = lowest_of_all(numa_list(first), processors);
  common.l3 = lowest_of_all(first / "cache/index3/shared_cpu_list", processors);
  common.core = lowest_of_all(first / "topology/thread_siblings_list", processors);
  return common;
}

}  // namespace muster::shm
