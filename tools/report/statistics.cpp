#include "tools/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace muster::bench {
namespace {

// A quiet probe repeats within a few per cent; neighbouring states differ by half and more.
constexpr double same_trip_ratio = 1.25;
constexpr double same_state_ratio = 1.25;

bool within(double one, double other, double ratio) {
  if (one <= 0 || other <= 0) return one == other;
  return std::max(one, other) <= std::min(one, other) * ratio;
}

}  // namespace

double percentile(std::span<const double> values, double fraction) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double median(std::span<const double> values) { return percentile(values, 0.5); }

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

bool same_trip(double one_ns, double other_ns) { return within(one_ns, other_ns, same_trip_ratio); }

std::size_t machine_states::index_of(double trip_ns) {
  std::optional<std::size_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trips_ns_.size(); ++i) {
    if (!within(trips_ns_[i], trip_ns, same_state_ratio)) continue;
    const double distance = std::abs(std::log(std::max(trip_ns, 1e-3) / trips_ns_[i]));
    if (!nearest || distance < least) {
      nearest = i;
      least = distance;
    }
  }
  if (nearest) return *nearest;
  trips_ns_.push_back(trip_ns);
  return trips_ns_.size() - 1;
}

state_choice fullest_state(std::span<const std::vector<sample>> by_library) {
  std::size_t states = 0;
  for (const auto& samples : by_library) {
    for (const sample& one : samples) states = std::max(states, one.state + 1);
  }
  state_choice best;
  for (std::size_t state = 0; state < states; ++state) {
    std::size_t sets = std::numeric_limits<std::size_t>::max();
    for (const auto& samples : by_library) {
      if (!samples.empty()) sets = std::min(sets, in_state(samples, state).size());
    }
    if (sets > best.complete_sets) best = {state, sets};
  }
  return best;
}

std::vector<sample> in_state(std::span<const sample> samples, std::size_t state) {
  std::vector<sample> chosen;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(chosen),
               [state](const sample& one) { return one.state == state; });
  return chosen;
}

}  // namespace muster::bench
