#include "tools/study/reproduce/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/report/sizes.hpp"

namespace muster::reproduce {
namespace {

using bench::readable_bytes;

std::vector<std::size_t> sizes_between(const claim& one, const measurements& in) {
  std::vector<std::size_t> result;
  for (const std::size_t bytes : in.of().sizes) {
    if (one.from <= bytes && bytes <= one.to) result.push_back(bytes);
  }
  return result;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void check_factor(const claim& one, const measurements& in, outcome& found) {
  const double factor = in.time(one.other, one.from) / in.time(one.winner, one.from);
  found.paper = fmt::format("{:.2f}x", one.least);
  found.ours = fmt::format("{:.2f}x", factor);
  const bool ahead = factor > 1;
  const bool close = std::abs(factor / one.least - 1) <= tolerance;
  found.came_out = ahead && close ? verdict::holds
                   : ahead        ? verdict::factor_differs
                                  : verdict::fails;
}

/// The fastest at a size.
std::string fastest(const measurements& in, std::size_t bytes) {
  std::string best;
  for (const contender& each : in.of().contenders) {
    if (!in.has(each.label, bytes)) continue;
    if (best.empty() || in.time(each.label, bytes) < in.time(best, bytes)) best = each.label;
  }
  return best;
}

void check_best(const claim& one, const measurements& in, outcome& found) {
  const std::vector<std::size_t> sizes = sizes_between(one, in);
  std::size_t won = 0;
  for (const std::size_t bytes : sizes) {
    const std::string best = fastest(in, bytes);
    if (best == one.winner) {
      ++won;
      continue;
    }
    found.ours +=
        fmt::format("{}{}: {} by {}", found.ours.empty() ? "" : "; ", readable_bytes(bytes), best,
                    percent(1 - in.time(best, bytes) / in.time(one.winner, bytes)));
  }
  found.paper = fmt::format("{} to {}", readable_bytes(one.from), readable_bytes(one.to));
  if (won == sizes.size()) found.ours = "the same";
  found.came_out = won == sizes.size() ? verdict::holds : verdict::fails;
}

void check_ahead(const claim& one, const measurements& in, outcome& found) {
  const std::vector<std::size_t> sizes = sizes_between(one, in);
  std::size_t won = 0;
  std::string lost;
  for (const std::size_t bytes : sizes) {
    if (in.time(one.winner, bytes) < in.time(one.other, bytes)) {
      ++won;
    } else {
      lost += (lost.empty() ? ", not at " : ", ") + readable_bytes(bytes);
    }
  }
  found.paper = one.least == 1 ? "always" : "mostly";
  found.ours = fmt::format("at {} of {} sizes{}", won, sizes.size(), lost);
  const bool enough = static_cast<double>(won) >= one.least * static_cast<double>(sizes.size());
  found.came_out = enough ? verdict::holds : verdict::fails;
}

void check_close(const claim& one, const measurements& in, outcome& found) {
  double furthest = 0;
  for (const std::size_t bytes : sizes_between(one, in)) {
    const double off = in.time(one.winner, bytes) / in.time(one.other, bytes) - 1;
    if (std::abs(off) > std::abs(furthest)) furthest = off;
  }
  found.paper = "very close";
  found.ours = fmt::format("within {}", percent(std::abs(furthest)));
  found.came_out = std::abs(furthest) <= one.most ? verdict::holds : verdict::fails;
}

void check_saving(const claim& one, const measurements& in, outcome& found) {
  std::vector<double> savings;
  for (const std::size_t bytes : sizes_between(one, in)) {
    savings.push_back(1 - in.time(one.winner, bytes) / in.time(one.other, bytes));
  }
  const auto [low, high] = std::ranges::minmax(savings);
  const double mean =
      std::accumulate(savings.begin(), savings.end(), 0.0) / static_cast<double>(savings.size());
  found.paper = one.least == one.most
                    ? percent(one.least)
                    : fmt::format("{} to {}", percent(one.least), percent(one.most));
  found.ours = one.on_average ? percent(mean) + " on average"
                              : fmt::format("{} to {}", percent(low), percent(high));
  // A saving of s is a factor of 1 / (1 - s).
  const auto close = [&](double share) {
    const double remains = 1 - share;
    return remains <= (1 - one.least) * (1 + tolerance) &&
           remains >= (1 - one.most) / (1 + tolerance);
  };
  const bool within = one.on_average ? close(mean) : close(low) && close(high);
  const bool ahead = one.on_average ? mean > 0 : low > 0;
  found.came_out = !ahead ? verdict::fails : within ? verdict::holds : verdict::factor_differs;
}

}  // namespace

outcome check(const claim& one, const all_measurements& in) {
  const measurements& made = in.at(one.experiment);
  outcome found;
  found.source = one.source;
  found.says = one.says;
  switch (one.what) {
    case claim::kind::factor:
      check_factor(one, made, found);
      break;
    case claim::kind::best:
      check_best(one, made, found);
      break;
    case claim::kind::ahead:
      check_ahead(one, made, found);
      break;
    case claim::kind::close:
      check_close(one, made, found);
      break;
    case claim::kind::saving:
      check_saving(one, made, found);
      break;
  }
  if (found.came_out != verdict::holds) found.reason = one.reason;
  return found;
}

}  // namespace muster::reproduce
