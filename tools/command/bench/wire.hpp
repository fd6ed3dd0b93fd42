// What the coordinator and its workers say to each other: fixed records over a local
// SOCK_SEQPACKET socket. Both ends come from one build and run on one machine, so the records
// travel as they lie in memory.
#pragma once

#include <cstdint>

#include <muster/base/fixed_text.hpp>
#include <muster/environment/environment.hpp>

#include "tools/command/bench/measured.hpp"
#include "tools/command/bench/posted.hpp"

namespace muster::bench {

/// The environment variable that tells a worker where its coordinator listens.
inline constexpr const char* socket_variable = environment::bench_socket.name;

/// A worker's first record.
struct hello {
  static constexpr std::uint32_t expected_magic = 0x4d425731;

  std::uint32_t magic = expected_magic;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  fixed_text<96> version;  ///< of the library, for people
};

/// How ranks come late to the calls of an order; see tools/arrivals.
struct lateness {
  fixed_text<1024> pattern;          ///< empty: calls are back to back
  std::uint64_t seed = 1;            ///< of the pattern
  std::int64_t message_time_ns = 0;  ///< of the pattern
  std::uint64_t first_call = 0;      ///< what the pattern calls the order's first call
  bool yields = false;  ///< ranks share cores: one that is not there yet leaves its core to others

  bool wanted() const { return !pattern.view().empty(); }
};

/// What one rank is to do next.
struct order {
  bool leave = false;  ///< nothing more to do: finalize and exit
  collective what = collective::barrier;
  std::uint64_t bytes = 0;    ///< whole message, or one block
  std::uint64_t warmups = 0;  ///< untimed calls first
  std::uint64_t calls = 0;    ///< timed calls
  std::uint64_t checks = 0;   ///< calls afterwards whose every element is looked at
  bool nonblocking = false;   ///< begun and waited for, where the library knows the difference
  double compute_us = 0;      ///< in between, the rank's own time; not part of a call's
  calling how = {};
  fixed_text<64> asked;  ///< Muster's algorithm; empty or `automatic`: as it likes
  lateness late;
};

/// What came of an order on one rank.
struct answer {
  double mean_us = 0;    ///< mean over the timed calls of this rank
  double period_us = 0;  ///< from one timed call to the next, mean
  posted sent;           ///< by the timed calls
  bool verified = true;  ///< every element of every checked call was right
  fixed_text<48> algorithm;
  fixed_text<200> error;  ///< empty when all went well
  bool refused = false;   ///< with `error`: the library can't do it; nothing was begun
};

}  // namespace muster::bench
