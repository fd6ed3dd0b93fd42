// From times to rules.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tools/tune/tune.hpp"

namespace muster::tune {
namespace {

using range = selection_table::range;

/// The stretch for which each of the values that were tried stands.
std::map<std::size_t, range> stretches(const std::set<std::size_t>& tried) {
  std::map<std::size_t, range> result;
  std::size_t next = 0;
  for (const std::size_t value : tried) {
    result[value] = {next, value};
    next = value + 1;
  }
  if (!result.empty()) result.rbegin()->second.last = range{}.last;
  return result;
}

bool same_but_for_size(const spot& one, const spot& other) {
  return std::tie(one.what, one.nodes, one.ranks_a_node) ==
         std::tie(other.what, other.nodes, other.ranks_a_node);
}

}  // namespace

std::vector<std::string> candidates(const algorithm& row, std::size_t ranks_a_node) {
  const std::string id(row.id);
  std::vector<std::string> all = {id};
  if (row.has_ports) {
    for (const std::size_t ports : {2, 4}) all.push_back(fmt::format("{}:ports={}", id, ports));
  }
  if (row.has_groups) {
    for (std::size_t groups = 2; groups <= std::min<std::size_t>(ranks_a_node, 8); groups *= 2) {
      all.push_back(fmt::format("{}:groups={}", id, groups));
    }
  }
  return all;
}

winner fastest(const spot& at, catalog rows, const stopwatch& time) {
  winner best{.at = at, .algorithm = "", .us = 0, .second = "", .second_us = 0};
  for (const algorithm& row : rows) {
    if (row.what != at.what) continue;
    for (const std::string& each : candidates(row, at.ranks_a_node)) {
      const std::optional<double> us = time(at, each);
      if (!us) continue;
      if (best.algorithm.empty() || *us < best.us) {
        best.second = std::exchange(best.algorithm, each);
        best.second_us = std::exchange(best.us, *us);
      } else if (best.second.empty() || *us < best.second_us) {
        best.second = each;
        best.second_us = *us;
      }
    }
  }
  return best;
}

selection_table make_table(const std::vector<winner>& found) {
  std::set<std::size_t> nodes;
  std::set<std::size_t> ranks;
  std::set<std::size_t> sizes;
  for (const winner& each : found) {
    nodes.insert(each.at.nodes);
    ranks.insert(each.at.ranks_a_node);
    sizes.insert(each.at.bytes);
  }
  const auto node_ranges = stretches(nodes);
  const auto rank_ranges = stretches(ranks);
  const auto size_ranges = stretches(sizes);
  std::vector<selection_table::rule> rules;
  const winner* last = nullptr;
  for (const winner& each : found) {
    if (each.algorithm.empty()) continue;
    const bool goes_on = last != nullptr && same_but_for_size(last->at, each.at);
    const bool second_is_as_good = goes_on && each.second == rules.back().algorithm &&
                                   each.second_us < each.us * (1 + worth_changing);
    last = &each;
    if (goes_on && (each.algorithm == rules.back().algorithm || second_is_as_good)) {
      rules.back().bytes.last = size_ranges.at(each.at.bytes).last;
      continue;
    }
    rules.push_back({.what = each.at.what,
                     .nodes = node_ranges.at(each.at.nodes),
                     .ranks_a_node = rank_ranges.at(each.at.ranks_a_node),
                     .bytes = size_ranges.at(each.at.bytes),
                     .algorithm = each.algorithm});
  }
  return selection_table(std::move(rules));
}

}  // namespace muster::tune
