#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/sweep.hpp"

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

/// Calls that are made together, and how.
struct soak_round {
  std::vector<spec> calls;
  conduct how;
};

soak_job make_job(std::uint64_t seed);
soak_round make_round(const soak_job& of, std::size_t index);
/// Calls that a rank makes in all passes.
std::size_t calls_of(const soak_job& job);

std::string describe(const soak_job& job);
std::string describe(const soak_round& round);
std::string how_to_replay(const soak_job& job);

}  // namespace muster::testing
