#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/library/record.hpp"

namespace muster::testing {

/// The record of a rank of four, on a machine on which a message of n bytes takes 100 + n ns.
inline profile::rank_record record_of(std::size_t rank, std::vector<arrival_log::site> sites) {
  profile::rank_record one;
  one.rank = rank;
  one.ranks = 4;
  one.machine.trip_ns = 100;
  one.machine.cache_bytes = 1 << 20;
  one.machine.in_cache.staged = 1;
  one.machine.beyond_cache.staged = 0.5;
  one.sites = std::move(sites);
  return one;
}

/// Calls of 300 bytes on all four.
inline arrival_log::site site_of(std::size_t rank, std::vector<arrival_log::call> calls) {
  arrival_log::site one;
  one.fingerprint = 0xf1;
  one.ranks = 4;
  one.rank = rank;
  one.what = "bcast(300 x byte, root 0)";
  one.algorithm = "srm";
  one.calls = calls.size();
  one.bytes = 300 * calls.size();
  one.kept = std::move(calls);
  return one;
}

inline arrival_log::call call_at(std::uint64_t sequence, std::int64_t arrived, std::int64_t left,
                                 bool failed = false) {
  return {.sequence = sequence, .failed = failed, .arrived = arrived, .left = left};
}

/// Arrivals at 1000, 1400, 2000, 2800; all leave at 3000: their mean is 1800, the distances from it
/// 800, 400, 200, 1000, on average 600. A message takes 400.
inline std::vector<profile::rank_record> one_call() {
  std::vector<profile::rank_record> all;
  std::size_t rank = 0;
  for (const std::int64_t arrived : {1000, 1400, 2000, 2800}) {
    all.push_back(record_of(rank, {site_of(rank, {call_at(1, arrived, 3000)})}));
    ++rank;
  }
  return all;
}

}  // namespace muster::testing
