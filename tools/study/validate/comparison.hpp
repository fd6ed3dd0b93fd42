// What was measured at a point beside what the simulator says.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/command/bench/measurement.hpp"

namespace muster::validate {

struct comparison {
  bench::point at;
  double measured_us = 0;
  double predicted_us = 0;
  // The machine's state at that moment; all else is as in the model.
  double trip_ns = 0;         ///< `memory.flag_ns`
  double other_core_gbs = 0;  ///< `memory.other_core_gbs`

  /// Predicted over measured.
  double ratio() const { return predicted_us / measured_us; }
  /// The same, or its inverse: how far off, at least 1.
  double factor() const { return ratio() < 1 ? 1 / ratio() : ratio(); }
};

/// The median and the worst of the factors; both 1 when there are none.
struct summary {
  double median = 1;
  double worst = 1;
};
summary summarize(std::span<const comparison> all);

std::string table(std::span<const comparison> all);
/// \param machine processor and number of CPUs
/// \param model what was measured of it
std::string to_json(std::span<const comparison> all, const std::string& machine,
                    const std::string& model);

}  // namespace muster::validate
