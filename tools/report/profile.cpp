#include "tools/report/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "tools/report/machine.hpp"

namespace muster::profile {
namespace {

/// A rank of the job, and what it recorded of a site.
struct part {
  const rank_record* record;
  const arrival_log::site* recorded;
};

double mean_of(std::size_t count, auto value) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += value(i);
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// What is to be added to a rank's times.
std::int64_t offset_of(const part& one) {
  return one.record->clock.value_or(clock_relation{}).offset_ns;
}

/// The calls that all have kept, and how many of them failed.
void match(site& into, std::span<const part> parts) {
  struct seen {
    std::vector<visit> ranks;
    bool failed = false;
  };
  std::map<std::uint64_t, seen> by_sequence;
  for (const part& one : parts) {
    for (const arrival_log::call& each : one.recorded->kept) {
      seen& at = by_sequence[each.sequence];
      at.ranks.push_back({each.arrived + offset_of(one), each.left + offset_of(one)});
      at.failed = at.failed || each.failed;
    }
  }
  for (auto& [sequence, at] : by_sequence) {
    if (at.failed) {
      ++into.failed;
    } else if (at.ranks.size() == parts.size()) {
      into.kept.push_back({sequence, std::move(at.ranks)});
    }
  }
}

mean_and_most over_calls(std::span<const call> calls, auto value) {
  mean_and_most result;
  result.mean = mean_of(calls.size(), [&](std::size_t i) { return value(calls[i]); });
  for (const call& one : calls) result.most = std::max(result.most, value(one));
  return result;
}

/// How many nanoseconds all ranks were in a call, and how many of them before its last arrival.
std::pair<double, double> time_in(const call& one) {
  const std::int64_t last = one.last_arrival();
  std::int64_t all = 0;
  std::int64_t waiting = 0;
  for (const visit& each : one.ranks) {
    all += each.left - each.arrived;
    waiting += std::min(each.left, last) - each.arrived;
  }
  return {static_cast<double>(all), static_cast<double>(waiting)};
}

figures figures_of(const site& of) {
  figures result;
  if (of.kept.empty()) return result;
  // Nothing can be compared with a machine of which nothing is known.
  const double message_ns = static_cast<double>(std::max<std::int64_t>(1, of.message_time.count()));
  result.average_case =
      over_calls(of.kept, [&](const call& one) { return one.average_case_ns() / message_ns; });
  result.worst_case =
      over_calls(of.kept, [&](const call& one) { return one.worst_case_ns() / message_ns; });
  double all = 0;
  double waiting = 0;
  std::vector<std::size_t> last(of.ranks.size());
  for (const call& one : of.kept) {
    const auto [in_call, before_last] = time_in(one);
    all += in_call;
    waiting += before_last;
    const auto latest = std::ranges::max_element(one.ranks, {}, &visit::arrived);
    ++last[static_cast<std::size_t>(latest - one.ranks.begin())];
  }
  const auto calls = static_cast<double>(of.kept.size());
  result.time_in_call_ns = all / calls / static_cast<double>(of.ranks.size());
  result.waiting_share = all > 0 ? waiting / all : 0;
  const auto most_often = std::ranges::max_element(last);
  result.last_rank = of.ranks[static_cast<std::size_t>(most_often - last.begin())];
  result.last_share = static_cast<double>(*most_often) / calls;
  return result;
}

site make_site(std::vector<part> parts, const muster::machine& seen) {
  std::ranges::sort(parts, {}, [](const part& one) { return one.recorded->rank; });
  const arrival_log::site& first = *parts.front().recorded;
  site result;
  result.what = first.what;
  result.algorithm = first.algorithm;
  result.team = first.team;
  result.team_size = first.ranks;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  for (const part& one : parts) {
    result.ranks.push_back(one.record->rank);
    result.calls = std::max(result.calls, one.recorded->calls);
    calls += one.recorded->calls;
    bytes += one.recorded->bytes;
  }
  result.bytes = calls == 0 ? 0 : (bytes + calls / 2) / calls;
  result.message_time = bench::message_time(seen, result.bytes);
  match(result, parts);
  result.figures = figures_of(result);
  return result;
}

/// Of the two clocks of which the least is known: they may be wrong in different directions.
std::optional<std::int64_t> clock_error_of(std::span<const rank_record> records) {
  std::vector<clock_relation> clocks;
  for (const rank_record& one : records) {
    if (!one.clock) continue;
    if (std::ranges::find(clocks, *one.clock) == clocks.end()) clocks.push_back(*one.clock);
  }
  if (clocks.size() < 2) return std::nullopt;
  std::ranges::sort(clocks, std::ranges::greater(), &clock_relation::error_ns);
  return clocks[0].error_ns + clocks[1].error_ns;
}

}  // namespace

std::int64_t call::first_arrival() const {
  return std::ranges::min(ranks, {}, &visit::arrived).arrived;
}

std::int64_t call::last_arrival() const {
  return std::ranges::max(ranks, {}, &visit::arrived).arrived;
}

double call::average_case_ns() const {
  // From the first arrival on, so that no digits are lost.
  const std::int64_t first = first_arrival();
  const auto arrived = [&](std::size_t i) { return static_cast<double>(ranks[i].arrived - first); };
  const double mean = mean_of(ranks.size(), arrived);
  return mean_of(ranks.size(), [&](std::size_t i) { return std::abs(arrived(i) - mean); });
}

double call::worst_case_ns() const { return static_cast<double>(last_arrival() - first_arrival()); }

double site::total_ns() const {
  return figures.time_in_call_ns * static_cast<double>(calls) * static_cast<double>(ranks.size());
}

job put_together(std::span<const rank_record> records) {
  job result;
  result.ranks = records.front().ranks;
  result.clock_error_ns = clock_error_of(records);
  std::vector<bool> left_record(result.ranks);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<part>> parts;
  for (const rank_record& one : records) {
    left_record[one.rank] = true;
    result.left_out = std::max(result.left_out, one.left_out);
    for (const arrival_log::site& each : one.sites) {
      parts[{each.team, each.fingerprint}].push_back({&one, &each});
    }
  }
  for (std::size_t rank = 0; rank < result.ranks; ++rank) {
    if (!left_record[rank]) result.missing.push_back(rank);
  }
  for (auto& [key, of_site] : parts) {
    result.sites.push_back(make_site(std::move(of_site), records.front().machine));
  }
  std::ranges::sort(result.sites, std::ranges::greater(), &site::total_ns);
  return result;
}

std::string list_ranks(std::span<const std::size_t> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text += (end - i > 2 ? "-" : ", ") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace muster::profile
