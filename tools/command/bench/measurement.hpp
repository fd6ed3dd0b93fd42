// What the benchmark finds: one measurement a library and point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/command/bench/libraries.hpp"
#include "tools/command/bench/point.hpp"
#include "tools/command/bench/posted.hpp"
#include "tools/report/statistics.hpp"

namespace muster::bench {

/// How ranks came late.
struct late_arrivals {
  std::string pattern;  ///< see tools/arrivals
  std::uint64_t seed = 1;
  std::int64_t message_time_ns = 0;
};

/// `random:mif=32, seed 1`
std::string describe(const late_arrivals& late);

/// What is not as usual: `between barriers, float, same buffers`; empty where all is. The type only
/// if there are reductions.
std::string describe(const calling& how, bool reductions);

/// What a host's ranks together ask of its RDMA devices, mean over the hosts and over calls.
struct host_traffic {
  double sends = 0;  ///< in a call, as what follows
  double doorbells = 0;
  double bytes = 0;
  double queue_pairs = 0;  ///< that there are
};

/// \param sent by all hosts together in so many calls; nothing where they have no queue pairs
std::optional<host_traffic> of_a_host(const posted& sent, std::size_t hosts, std::uint64_t calls);

struct measurement {
  point at;
  library of = library::muster;
  std::string asked;                  ///< see contender
  std::string algorithm = "default";  ///< that ran; empty if it was refused
  std::size_t nodes = 1;
  std::size_t hosts = 1;              ///< made ones, of all libraries
  std::optional<late_arrivals> late;  ///< nothing: ranks were not late
  calling how = {};
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  bool verified = false;
  std::optional<host_traffic> sent;  ///< between hosts, where they talk by RDMA
  std::optional<double> ratio;       ///< ours only: the better peer's median over ours
  std::optional<double> to_first;    ///< further ones of ours only: the first one's median over it
  std::optional<double> limit_us;    ///< the least that the machine allows; back to back only
  std::optional<double> trip_ns;     ///< the machine's state in which this was measured
  std::optional<double>
      trips;                ///< barrier of 2 ranks, back to back: time in trips of the same sample
  std::size_t samples = 0;  ///< that the figures are made from
  std::size_t discarded = 0;  ///< thrown away since the machine changed underneath
  bool one_state = true;      ///< whether all were compared in one state
  bool suits = true;          ///< whether the algorithm that was asked for can run this
  std::string failure;        ///< why there are no figures

  bool has_figures() const { return samples > 0; }
  contender who() const { return {of, asked}; }
};

/// Fills in the figures from samples.
void summarize(measurement& one, std::span<const sample> samples);

/// Gives ours their ratios: against the better of the peers, and where there are several of ours,
/// against the first of them. All are at one point.
void compare(std::span<measurement> at_one_point);

/// Where and when all was measured.
struct environment_facts {
  std::string machine;                 ///< processor and number of CPUs
  std::string date;                    ///< UTC, as 2026-11-20 17:00
  std::vector<std::string> libraries;  ///< what each calls itself: `Open MPI 4.1.4`
};

/// Some measurements: where nothing is said, all.
struct selection {
  std::optional<collective> what = {};
  std::optional<std::size_t> ranks = {};
  std::optional<std::string> asked = {};
  bool has(const measurement& one) const;
};

/// Geometric means over those selected.
std::optional<double> mean_ratio(std::span<const measurement> all, const selection& some);
std::optional<double> mean_to_first(std::span<const measurement> all, const selection& some);

/// `alltoall pairwise`, `all`
std::string title_of(const selection& line);

/// What a table of means has a line for: each collective, and all of them, with each of ours.
std::vector<selection> lines_of_means(std::span<const measurement> all);

/// In the order of first appearance.
std::vector<collective> collectives_in(std::span<const measurement> all);
std::vector<std::size_t> ranks_in(std::span<const measurement> all);
std::vector<contender> ours_in(std::span<const measurement> all);
std::vector<contender> peers_in(std::span<const measurement> all);
/// Ascending.
std::vector<std::size_t> bytes_in(std::span<const measurement> all, collective what,
                                  std::size_t ranks);

/// Null where it was not measured.
const measurement* find(std::span<const measurement> all, const point& at, const contender& who);
/// Those of ours that were measured at a point.
std::vector<const measurement*> ours_at(std::span<const measurement> all, const point& at);

/// Over how many made-up nodes our ranks are spread.
std::size_t nodes_in(std::span<const measurement> all);
/// The algorithm as it was asked for, with what `auto` came to; empty if nobody asked.
std::string label_of(const measurement& one);

}  // namespace muster::bench
