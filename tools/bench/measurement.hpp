// What the benchmark finds: one measurement a library and point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/libraries.hpp"
#include "tools/bench/point.hpp"
#include "tools/bench/statistics.hpp"

namespace muster::bench {

/// How ranks came late.
struct late_arrivals {
  std::string pattern;  ///< see tools/arrivals
  std::uint64_t seed = 1;
  std::int64_t message_time_ns = 0;
};

/// `random:mif=32, seed 1`
std::string describe(const late_arrivals& late);

struct measurement {
  point at;
  library of = library::muster;
  std::string algorithm = "default";
  std::size_t nodes = 1;
  std::optional<late_arrivals> late;  ///< nothing: calls were back to back
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  bool verified = false;
  std::optional<double> ratio;     ///< ours only: the better peer's median over ours
  std::optional<double> limit_us;  ///< the least that the machine allows; back to back only
  std::optional<double> trip_ns;   ///< the machine's state in which this was measured
  std::optional<double>
      trips;                ///< barrier of 2 ranks, back to back: time in trips of the same sample
  std::size_t samples = 0;  ///< that the figures are made from
  std::size_t discarded = 0;  ///< thrown away since the machine changed underneath
  bool one_state = true;      ///< whether all libraries were compared in one state
  std::string failure;        ///< why there are no figures

  bool has_figures() const { return samples > 0; }
};

/// Fills in the figures from samples.
void summarize(measurement& one, std::span<const sample> samples);

/// Gives ours its ratio against the better of the peers, all at one point.
void compare(std::span<measurement> at_one_point);

/// What was measured, for the head of a report.
struct surroundings {
  std::string machine;                 ///< processor and number of CPUs
  std::string date;                    ///< UTC, as 2026-11-20 17:00
  std::vector<std::string> libraries;  ///< what each calls itself
  std::string arrivals;                ///< as of late_arrivals; empty where calls were back to back
};

/// Geometric mean of the ratios of one collective or all, at one rank count or all.
std::optional<double> mean_ratio(std::span<const measurement> all, std::optional<collective> what,
                                 std::optional<std::size_t> ranks);

/// In the order of first appearance.
std::vector<collective> collectives_in(std::span<const measurement> all);
std::vector<std::size_t> ranks_in(std::span<const measurement> all);
std::vector<library> libraries_in(std::span<const measurement> all);
/// Ascending.
std::vector<std::size_t> bytes_in(std::span<const measurement> all, collective what,
                                  std::size_t ranks);

/// Null where it was not measured.
const measurement* find(std::span<const measurement> all, const point& at, library of);

}  // namespace muster::bench
