// From times to rules.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/command/bench/measured.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/mpi/left_to_mpi.hpp"

namespace muster::tune {
namespace {

using range = selection_table::range;

/// What was tried of one collective.
struct grid {
  std::set<std::size_t> ranks_a_node;
  std::map<std::size_t, std::set<std::size_t>> nodes;  ///< by ranks a node: not every product
  std::set<std::size_t> sizes;
};

/// For which a value that was tried stands; the smallest from `first` on.
range stretch(const std::set<std::size_t>& tried, std::size_t value, std::size_t first) {
  const auto at = tried.find(value);
  const bool last = std::next(at) == tried.end();
  return {at == tried.begin() ? first : *std::prev(at) + 1, last ? range{}.last : value};
}

range stretch(const std::set<std::size_t>& tried, std::size_t value) {
  return stretch(tried, value, *tried.begin());
}

std::map<collective, grid> grids_of(const std::vector<winner>& found) {
  std::map<collective, grid> grids;
  for (const winner& each : found) {
    grid& of = grids[each.at.what];
    of.ranks_a_node.insert(each.at.ranks_a_node);
    of.nodes[each.at.ranks_a_node].insert(each.at.nodes);
    of.sizes.insert(each.at.bytes);
  }
  return grids;
}

/// Without its algorithm.
selection_table::rule rule_for(const winner& of, const grid& tried) {
  return {.what = of.at.what,
          .nodes = stretch(tried.nodes.at(of.at.ranks_a_node), of.at.nodes),
          .ranks_a_node = stretch(tried.ranks_a_node, of.at.ranks_a_node),
          .bytes = stretch(tried.sizes, of.at.bytes, 0),
          .algorithm = {}};
}

/// The same team, that calls the same with more.
bool goes_on_with(const spot& one, const spot& next) {
  return std::tie(one.what, one.nodes, one.ranks_a_node) ==
             std::tie(next.what, next.nodes, next.ranks_a_node) &&
         one.bytes < next.bytes;
}

}  // namespace

namespace {

std::vector<std::string> variants(const algorithm& row, std::size_t ranks_a_node) {
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

void consider(winner& best, const std::string& algorithm, double us) {
  if (best.algorithm.empty() || us < best.us) {
    best.second = std::exchange(best.algorithm, algorithm);
    best.second_us = std::exchange(best.us, us);
  } else if (best.second.empty() || us < best.second_us) {
    best.second = algorithm;
    best.second_us = us;
  }
}

/// Whether a rule would be of no use.
bool automatic_is_as_good(const winner& at) {
  return at.automatic_us > 0 && at.automatic_us < at.us * (1 + worth_changing);
}

}  // namespace

std::vector<std::string> candidates(catalog rows, collective what, std::size_t ranks_a_node) {
  std::vector<std::string> all{std::string(bench::automatic)};
  for (const algorithm& row : rows) {
    if (row.what != what) continue;
    for (std::string& each : variants(row, ranks_a_node)) all.push_back(std::move(each));
  }
  return all;
}

winner fastest(const spot& at, catalog rows, const stopwatch& time) {
  winner best;
  best.at = at;
  const std::vector<std::string> tried = candidates(rows, at.what, at.ranks_a_node);
  const times taken = time(at, tried);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (!taken[i]) continue;
    if (tried[i] == bench::automatic) {
      best.automatic_us = *taken[i];
    } else if (tried[i] == mpi::left_to_mpi) {
      best.mpi_us = *taken[i];
    } else {
      consider(best, tried[i], *taken[i]);
    }
  }
  return best;
}

bool is_left(const winner& at) {
  const double own_us = automatic_is_as_good(at) ? at.automatic_us : at.us;
  return at.mpi_us > 0 && own_us > at.mpi_us * (1 + worth_leaving);
}

namespace {

/// Rules for spots in order of their sizes; neighbors with the same algorithm share one.
class rule_writer {
public:
  explicit rule_writer(const std::map<collective, grid>& tried) : tried_(tried) {}

  /// The algorithm of the next smaller size, where its rule could go on; or null.
  const std::string* before(const spot& at) const {
    const bool goes_on = last_ != nullptr && goes_on_with(*last_, at);
    return goes_on ? &rules_.back().algorithm : nullptr;
  }
  void add(const winner& found, std::string_view algorithm) {
    selection_table::rule next = rule_for(found, tried_.at(found.at.what));
    const std::string* const smaller = before(found.at);
    if (smaller != nullptr && *smaller == algorithm) {
      rules_.back().bytes.last = next.bytes.last;
    } else {
      next.algorithm = algorithm;
      rules_.push_back(std::move(next));
    }
    last_ = &found.at;
  }
  /// No rule for a size.
  void skip() noexcept { last_ = nullptr; }
  std::vector<selection_table::rule> take() && { return std::move(rules_); }

private:
  const std::map<collective, grid>& tried_;
  std::vector<selection_table::rule> rules_;
  const spot* last_ = nullptr;
};

/// The fastest; or what goes on from the size before, where that is as good.
const std::string& worth_a_rule(const winner& at, const std::string* before) {
  const bool second_is_as_good =
      before != nullptr && at.second == *before && at.second_us < at.us * (1 + worth_changing);
  return second_is_as_good ? at.second : at.algorithm;
}

}  // namespace

selection_table make_table(const std::vector<winner>& found) {
  const std::map<collective, grid> tried = grids_of(found);
  rule_writer leaving(tried);
  rule_writer own(tried);
  for (const winner& each : found) {
    if (each.algorithm.empty()) continue;
    if (is_left(each)) {
      leaving.add(each, mpi::left_to_mpi);
    } else {
      leaving.skip();
    }
    if (automatic_is_as_good(each)) {
      own.skip();
    } else {
      own.add(each, worth_a_rule(each, own.before(each.at)));
    }
  }
  std::vector<selection_table::rule> rules = std::move(leaving).take();
  std::ranges::move(std::move(own).take(), std::back_inserter(rules));
  return selection_table(rules);
}

}  // namespace muster::tune
