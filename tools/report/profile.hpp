// A job's calls, put together from the records of its ranks, and how balanced its arrivals were.
//
// Source: Qian 2010 (6.3.1). Of the arrivals a[i] of a call's ranks, d[i] is the distance from
// their mean; the average-case imbalance is the mean of all d[i], the worst-case imbalance the last
// arrival less the first. Each over T, the time that a message of the payload takes, is a factor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/library/record.hpp"

namespace muster::profile {

/// When a rank came to a call, and left, in nanoseconds.
struct visit {
  std::int64_t arrived = 0;
  std::int64_t left = 0;
};

/// A call of which all the site's ranks have a record.
struct call {
  std::uint64_t sequence = 0;  ///< in its team's order
  std::vector<visit> ranks;    ///< as in `site::ranks`

  std::int64_t first_arrival() const;
  std::int64_t last_arrival() const;
  double average_case_ns() const;
  double worst_case_ns() const;
};

struct mean_and_most {
  double mean = 0;
  double most = 0;
};

/// Of the calls that have not failed.
struct figures {
  mean_and_most average_case;  ///< imbalance factors
  mean_and_most worst_case;
  double time_in_call_ns = 0;  ///< mean of all ranks
  double waiting_share = 0;    ///< of that time: before the last rank was there
  std::size_t last_rank = 0;   ///< of the job: the one that was last most often
  double last_share = 0;       ///< of the calls in which it was
};

/// Calls of one signature on one team.
struct site {
  std::string what;
  std::string algorithm;
  std::uint64_t team = 0;
  std::size_t team_size = 0;
  std::vector<std::size_t> ranks;  ///< of the job, in the team's order; those with a record of it
  std::uint64_t calls = 0;         ///< that a rank made, the most of all
  std::uint64_t failed = 0;        ///< of those kept
  std::uint64_t bytes = 0;         ///< payload of a call, on average
  std::chrono::nanoseconds message_time{0};
  std::vector<call> kept;  ///< by all its ranks, none of them failed; in order
  profile::figures figures;

  /// Of all ranks and calls together, those not kept included.
  double total_ns() const;
};

struct job {
  std::size_t ranks = 1;
  std::vector<std::size_t> missing;  ///< ranks without a record
  std::uint64_t left_out = 0;        ///< the most calls that a rank left out
  /// By how much times of ranks on different machines may be wrong to each other; nothing: they
  /// have one clock.
  std::optional<std::int64_t> clock_error_ns;
  std::vector<site> sites;  ///< those that took the most time first
};

/// \param records not empty, of one job
job put_together(std::span<const rank_record> records);

/// "0-3, 5"
std::string list_ranks(std::span<const std::size_t> ranks);

}  // namespace muster::profile
