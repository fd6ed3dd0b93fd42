// What one rank recorded of its arrivals, as a file.
//
// A job's records are files of one folder, rank-0, rank-1, …; text, in lines:
//
//   muster arrivals 1
//   rank 2 of 4
//   clock OFFSET_NS ERROR_NS        where machines have clocks of their own
//   machine TRIP_NS YIELD_NS CACHE_BYTES STAGED_IN_CACHE STAGED_BEYOND
//   left out N
//   site TEAM SIGNATURE rank 1 of 3 calls N bytes N by ALGORITHM: allreduce(16 x float64, sum)
//   SEQUENCE ARRIVED LEFT [failed]
//   end
//
// with any number of sites, and of calls of each, those that were kept: its number in the team's
// order, and nanoseconds by the clock of the rank's machine. `clock` is a `clock_relation`, machine
// as in engine/team/machine.hpp; left out are calls of sites beyond those that a log has. TEAM and
// SIGNATURE are hexadecimal and mean the same in all files; calls and bytes count all calls of the
// site, kept or not. A file is empty until its rank has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/progress/clock_relation.hpp>
#include <muster/run/arrival_log.hpp>
#include <muster/team/machine.hpp>

namespace muster::profile {

struct rank_record {
  std::size_t rank = 0;
  std::size_t ranks = 1;  ///< of the job
  /// Nothing: all ranks have one clock.
  std::optional<clock_relation> clock;
  muster::machine machine;  ///< what the time of a message depends on
  std::uint64_t left_out = 0;
  std::vector<arrival_log::site> sites;
};

std::string to_text(const rank_record& record);
/// \throws std::invalid_argument that says what is wrong in which line
rank_record parse_record(std::string_view text);

/// The file of a rank.
std::filesystem::path record_file(const std::filesystem::path& folder, std::size_t rank);

/// The records of all ranks that left one, by rank.
/// \throws std::runtime_error where there is none, one is wrong, or they are not of one job
std::vector<rank_record> read_records(const std::filesystem::path& folder);

}  // namespace muster::profile
