#include "tools/bench/measurement.hpp"

#include <algorithm>

namespace muster::bench {
namespace {

template <class Value, class Get>
std::vector<Value> distinct(std::span<const measurement> all, Get get) {
  std::vector<Value> values;
  for (const measurement& one : all) {
    const Value value = get(one);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

std::string describe(const late_arrivals& late) {
  return late.pattern + ", seed " + std::to_string(late.seed);
}

void summarize(measurement& one, std::span<const sample> samples) {
  std::vector<double> times_us;
  std::vector<double> trips_ns;
  std::vector<double> times_in_trips;
  for (const sample& taken : samples) {
    times_us.push_back(taken.us);
    if (taken.trip_ns <= 0) continue;
    trips_ns.push_back(taken.trip_ns);
    times_in_trips.push_back(taken.us * 1e3 / taken.trip_ns);
  }
  one.samples = samples.size();
  one.median_us = median(times_us);
  one.p10_us = percentile(times_us, 0.1);
  one.p90_us = percentile(times_us, 0.9);
  if (trips_ns.empty()) return;
  one.trip_ns = median(trips_ns);
  const bool pure = one.at.what == collective::barrier && one.at.ranks == 2 && !one.late;
  if (pure) one.trips = median(times_in_trips);
}

void compare(std::span<measurement> at_one_point) {
  std::optional<double> best_peer_us;
  for (const measurement& one : at_one_point) {
    if (one.of == library::muster || !one.has_figures()) continue;
    best_peer_us = std::min(best_peer_us.value_or(one.median_us), one.median_us);
  }
  for (measurement& one : at_one_point) {
    if (one.of != library::muster || !one.has_figures() || !best_peer_us) continue;
    one.ratio = *best_peer_us / one.median_us;
  }
}

std::optional<double> mean_ratio(std::span<const measurement> all, std::optional<collective> what,
                                 std::optional<std::size_t> ranks) {
  std::vector<double> ratios;
  for (const measurement& one : all) {
    if (what && one.at.what != *what) continue;
    if (ranks && one.at.ranks != *ranks) continue;
    if (one.ratio) ratios.push_back(*one.ratio);
  }
  return geometric_mean(ratios);
}

std::vector<collective> collectives_in(std::span<const measurement> all) {
  return distinct<collective>(all, [](const measurement& one) { return one.at.what; });
}

std::vector<std::size_t> ranks_in(std::span<const measurement> all) {
  return distinct<std::size_t>(all, [](const measurement& one) { return one.at.ranks; });
}

std::vector<library> libraries_in(std::span<const measurement> all) {
  return distinct<library>(all, [](const measurement& one) { return one.of; });
}

const measurement* find(std::span<const measurement> all, const point& at, library of) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const measurement& one) { return one.at == at && one.of == of; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::size_t> bytes_in(std::span<const measurement> all, collective what,
                                  std::size_t ranks) {
  std::vector<std::size_t> sizes;
  for (const measurement& one : all) {
    if (one.at.what == what && one.at.ranks == ranks) sizes.push_back(one.at.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace muster::bench
