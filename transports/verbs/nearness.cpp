#include "transports/verbs/nearness.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace muster::verbs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view nodes_folder = "/sys/devices/system/node";

fs::path folder_of(int node) { return fs::path(nodes_folder) / ("node" + std::to_string(node)); }

std::string line_of(const fs::path& file) {
  std::ifstream from(file);
  std::string line;
  std::getline(from, line);
  return line;
}

/// Those that the calling thread may use.
std::vector<int> usable_processors() {
  constexpr std::string_view key = "Cpus_allowed_list:";
  std::ifstream from("/proc/thread-self/status");
  for (std::string line; std::getline(from, line);) {
    if (!line.starts_with(key)) continue;
    return parse_numbers(std::string_view(line).substr(line.find_first_not_of(" \t", key.size())));
  }
  return {};
}

std::vector<int> used_of(std::span<const int> nodes) {
  const std::vector<int> usable = usable_processors();
  std::vector<int> used;
  for (const int node : nodes) {
    const std::vector<int> its = parse_numbers(line_of(folder_of(node) / "cpulist"));
    if (std::ranges::find_first_of(its, usable) != its.end()) used.push_back(node);
  }
  return used;
}

std::vector<int> distances_from(int node) {
  std::ifstream from(folder_of(node) / "distance");
  return {std::istream_iterator<int>(from), std::istream_iterator<int>()};
}

}  // namespace

std::vector<int> parse_numbers(std::string_view text) {
  constexpr int most = 1 << 16;
  std::vector<int> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    const auto [after, code] = std::from_chars(at, end, first);
    if (code != std::errc{}) break;
    int last = first;
    at = after != end && *after == '-' ? std::from_chars(after + 1, end, last).ptr : after;
    for (int each = first; each <= std::min(last, most); ++each) numbers.push_back(each);
    if (at == end || *at != ',') break;
    ++at;
  }
  return numbers;
}

int least_distance(std::span<const int> distances, std::span<const int> nodes,
                   std::span<const int> used) {
  int least = 0;
  for (std::size_t i = 0; i < std::min(distances.size(), nodes.size()); ++i) {
    const bool is_used = std::ranges::find(used, nodes[i]) != used.end();
    if (is_used && (least == 0 || distances[i] < least)) least = distances[i];
  }
  return least == 0 ? nearest : least;
}

int distance_to(int node) {
  if (node < 0) return nearest;
  const std::vector<int> nodes = parse_numbers(line_of(fs::path(nodes_folder) / "online"));
  return least_distance(distances_from(node), nodes, used_of(nodes));
}

}  // namespace muster::verbs
