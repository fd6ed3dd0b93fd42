#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::shm {

/// The processors that the calling thread may use.
std::vector<int> allowed_cpus();

struct cpu_pair {
  int first = 0;
  int second = 1;
};

/// Two CPUs this process may use, on different cores where it can be helped; nothing when it may
/// use only one.
std::optional<cpu_pair> probe_cpus();

/// The CPUs of a `thread_siblings_list` line such as `0,64` or `0-1`, asked for one of them.
bool lists_cpu(std::string_view cpu_list, int cpu);

/// Measures how long a cache line takes from one core to another.
class trip_probe {
public:
  explicit trip_probe(std::optional<cpu_pair> cpus) : cpus_(cpus) {}

  /// One-way trip in nanoseconds, from a ping-pong of about a millisecond between two pinned
  /// threads; nothing where there is one CPU or pinning is not allowed.
  std::optional<double> measure_ns();

private:
  static constexpr std::chrono::microseconds duration{700};
  std::optional<cpu_pair> cpus_;
};

}  // namespace muster::shm
