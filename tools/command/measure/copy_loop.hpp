#pragma once

#include <cstddef>
#include <optional>

#include "tools/command/bench/buffers.hpp"
#include "transports/shm/trip.hpp"

namespace muster::measure {

/// What one copy of a block takes in the benchmark's own loop, with nothing around it but the copy.
struct copy_times {
  double crossing_ns =
      0;               ///< of a block that another core has just changed, or of a long one a part
  double near_ns = 0;  ///< of a block that this core has just copied
};

/// Measures `copy_times` with a pair of threads: one changes the next slot of its ring again and
/// again, as the benchmark's ranks do, the other copies each into the next slot of its own.
class copy_loop {
public:
  /// Without two CPUs every copy is a near one.
  explicit copy_loop(std::optional<shm::cpu_pair> cpus) : cpus_(cpus) {}

  /// A few milliseconds. The rings are what `ranks` ranks have each for blocks of so many bytes;
  /// where nobody changes a block every copy is a near one.
  copy_times measure(std::size_t bytes, std::size_t ranks, const bench::calling& how = {});

private:
  std::optional<shm::cpu_pair> cpus_;
  bench::buffer_ring source_;
  bench::buffer_ring target_;
};

}  // namespace muster::measure
