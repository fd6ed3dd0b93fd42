// What one rank recorded of its arrivals, as a file.
//
// A job's records are files of one folder, rank-0, rank-1, …; text, in lines:
//
//   muster arrivals 1
//   rank 2 of 4
//   machine TRIP_NS YIELD_NS CACHE_BYTES STAGED_IN_CACHE STAGED_BEYOND   as in
//   engine/team/machine.hpp left out N                        calls of sites beyond those that a
//   log has site TEAM SIGNATURE rank 1 of 3 calls N bytes N by ALGORITHM: allreduce(16 x float64,
//   sum) SEQUENCE ARRIVED LEFT [failed]    of each call kept: number in the team's order,
//   nanoseconds end
//
// with any number of sites, and calls of each. TEAM and SIGNATURE are hexadecimal and mean the same
// in all files; calls and bytes count all calls of the site, kept or not. A file is empty until its
// rank has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <muster/run/arrival_log.hpp>
#include <muster/team/machine.hpp>

namespace muster::profile {

struct rank_record {
  std::size_t rank = 0;
  std::size_t ranks = 1;    ///< of the job
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
