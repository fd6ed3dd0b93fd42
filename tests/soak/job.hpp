#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/conformance/sweep.hpp"

/// What the soak does, wholly determined by a seed.
namespace muster::testing {

/// A job of processes. Its rounds are done over and over, so that its memory must stay what it was
/// after the first pass.
struct soak_job {
  std::uint64_t seed = 0;
  std::size_t ranks = 2;
  std::size_t nodes = 1;
  std::size_t kernel_copies_from = 0;  ///< as `muster run` takes it
  std::size_t rounds = 1;
  std::size_t passes = 1;
  /// Deadlines of all operations, which some of them miss: that ends the job, and it begins again
  /// without them.
  std::optional<clock_time> limit;
};

/// A team made from another for a round, and dropped at its end. What else there is to know of it
/// comes of its seed and, on a rank, of the team it is made from.
struct soak_team {
  enum class making { split, duplicate, subset };
  making how = making::split;
  std::size_t from = 0;  ///< 0: the job's own; n: the n-th of the round, which is made before it
  std::uint64_t seed = 0;
  std::size_t calls = 1;
  std::size_t largest_count = 1;
};

/// Calls that are made together, and how.
struct soak_round {
  std::vector<spec> calls;
  conduct how;
  /// They are called on while the job's own is; without deadlines, since of those that are missed
  /// on a team the ranks outside it do not hear.
  std::vector<soak_team> teams;
};

soak_job make_job(std::uint64_t seed);
soak_round make_round(const soak_job& of, std::size_t index);
/// Calls that a rank makes on the job's own team in all passes.
std::size_t calls_of(const soak_job& job);

std::string describe(const soak_job& job);
std::string describe(const soak_round& round);
std::string how_to_replay(const soak_job& job);

}  // namespace muster::testing
