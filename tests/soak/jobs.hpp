#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace muster::testing {

/// Random jobs of one kind, and what has been seen of them.
class jobs {
public:
  virtual ~jobs() = default;

  /// Runs what comes of a seed; says what went wrong, and how to see it again. Whether all was
  /// well.
  virtual bool run(std::uint64_t seed) = 0;
  /// What comes of a seed, whole.
  virtual std::string describe(std::uint64_t seed) const = 0;
  /// What was done so far, without the number of jobs.
  virtual std::string summary() const = 0;
};

/// Nothing happens to their ranks, but for deadlines.
std::unique_ptr<jobs> sound_jobs();
/// Ranks are killed, stopped, out of descriptors, and so on; the others go on.
std::unique_ptr<jobs> faulty_jobs();

}  // namespace muster::testing
