#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/conformance/simulated.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {

/// What goes wrong on purpose.
enum class trouble {
  none,
  death,         ///< a rank dies at some time
  mismatch,      ///< a rank makes another call than the rest
  deadline,      ///< operations have deadlines that some of them miss
  leaving,       ///< a rank ends before the last calls
  deaths,        ///< several ranks die, some just when the others go on without the first
  stop_request,  ///< a rank's calls are asked to stop at some time
  revocation,    ///< a rank breaks the team at some time
  host_death,    ///< all ranks of a node die at some time, and nobody says so
  cut_off,       ///< a node is out of reach, for ever or for about as long as others put up with
  pause,         ///< a rank does nothing for about as long
};
inline constexpr std::size_t troubles = 11;

std::string_view name(trouble what);

/// A simulation with all its chances, wholly determined by a seed.
struct random_case {
  std::uint64_t seed = 0;
  simulated in;
  std::size_t ranks = 1;
  std::vector<spec> calls;
  conduct how;
  clock_time latest{0};  ///< by how much ranks come late
  trouble what = trouble::none;
  std::size_t culprit = 0;   ///< the rank that dies, differs, leaves or stops
  std::size_t odd_call = 0;  ///< which of the calls differs, or is the first one left out
  spec odd;
  clock_time trouble_at{0};  ///< of stop requests and revocations
  /// Whether ranks that fail make a team of those who are alive, and go on with other calls.
  bool goes_on = false;
  /// Of the culprit, for making that team the first time; then it leaves.
  std::optional<clock_time> impatience = {};
};

random_case make_case(std::uint64_t seed);
std::string describe(const random_case& of);

/// What went wrong that should not have, or nothing.
/// \param planted what the search must find
std::string run_case(const random_case& of, sim::defect planted = sim::defect::none);

/// What happened, whatever it was: the run's trace and its end.
std::string history_of(const random_case& of);

}  // namespace muster::testing
