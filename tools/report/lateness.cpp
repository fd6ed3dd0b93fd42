#include "tools/report/lateness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::profile {
namespace {

constexpr std::size_t most_rows = 32;
constexpr std::size_t most_columns = 160;
constexpr std::size_t most_cells = 3200;  ///< each is an element of the plot

/// Some of a row of things: those from `first` up to `end`.
struct stretch {
  std::size_t first;
  std::size_t end;
};

/// So many things as stretches, as equal as can be.
std::vector<stretch> parts_of(std::size_t all, std::size_t parts) {
  std::vector<stretch> found;
  for (std::size_t i = 0; i < parts; ++i) {
    found.push_back({all * i / parts, all * (i + 1) / parts});
  }
  return found;
}

double mean_ns(const site& of, stretch ranks, stretch calls) {
  double sum = 0;
  for (std::size_t i = calls.first; i < calls.end; ++i) {
    const std::int64_t first = of.kept[i].first_arrival();
    for (std::size_t rank = ranks.first; rank < ranks.end; ++rank) {
      sum += static_cast<double>(of.kept[i].ranks[rank].arrived - first);
    }
  }
  return sum / static_cast<double>((ranks.end - ranks.first) * (calls.end - calls.first));
}

std::string label_of(const site& of, stretch ranks) {
  const std::size_t first = of.ranks[ranks.first];
  return ranks.end - ranks.first == 1 ? std::to_string(first)
                                      : fmt::format("{}–{}", first, of.ranks[ranks.end - 1]);
}

}  // namespace

lateness lateness_of(const site& of, std::int64_t start) {
  const auto rows = parts_of(of.ranks.size(), std::min(of.ranks.size(), most_rows));
  const auto columns =
      parts_of(of.kept.size(), std::min({of.kept.size(), most_columns, most_cells / rows.size()}));
  lateness found;
  for (const stretch& calls : columns) {
    const call& first = of.kept[calls.first];
    found.first_call.push_back(first.sequence);
    found.first_arrival_ns.push_back(first.first_arrival() - start);
  }
  for (const stretch& ranks : rows) {
    found.ranks.push_back(label_of(of, ranks));
    std::vector<double>& row = found.ns.emplace_back();
    for (const stretch& calls : columns) row.push_back(mean_ns(of, ranks, calls));
  }
  return found;
}

}  // namespace muster::profile
