// The statistics of the benchmark: medians and percentiles, and telling the machine's states apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace muster::bench {

/// The value below which `fraction` (0 to 1) of the values lie, interpolated; 0 when there are
/// none.
double percentile(std::span<const double> values, double fraction);
double median(std::span<const double> values);

/// Of positive values; nothing when there are none.
std::optional<double> geometric_mean(std::span<const double> values);

/// Whether two probes are so near one another that the machine has not changed between them.
bool same_trip(double one_ns, double other_ns);

/// One timed sample: the slowest rank's mean, and the machine around it.
struct sample {
  double us = 0;
  double trip_ns = 0;     ///< cache-line trip, from the probes before and after; 0 without a probe
  std::size_t state = 0;  ///< as given by machine_states
};

/// The states a machine has been seen in, told apart by the time of a cache-line trip. A host moves
/// virtual CPUs about: between threads of one core, cores of one cache, and beyond. Figures are
/// comparable only within one state.
class machine_states {
public:
  /// The state with a trip like this, a new one if there was none.
  std::size_t index_of(double trip_ns);
  std::size_t count() const { return trips_ns_.size(); }

private:
  std::vector<double> trips_ns_;
};

/// In which of the states every library has most samples: the state with the most complete sets,
/// and how many it has. Libraries without any sample (they failed) don't count.
struct state_choice {
  std::size_t state = 0;
  std::size_t complete_sets = 0;
};
state_choice fullest_state(std::span<const std::vector<sample>> by_library);

std::vector<sample> in_state(std::span<const sample> samples, std::size_t state);

}  // namespace muster::bench
