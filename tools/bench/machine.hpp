// What is to be known of the machine before measuring on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::bench {

/// CPUs that this process may use.
std::size_t usable_cpus();

/// Processor and number of CPUs, for people.
std::string machine_name();

/// Now, as 2026-11-20 17:00 UTC.
std::string utc_date();

/// Bytes that programs may still take.
std::size_t available_memory();

/// The share (0 to 1) of all CPUs' time that anybody uses, watched for a fifth of a second.
double busy_share();

/// Jiffies in the first line of /proc/stat.
struct cpu_times {
  double busy = 0;
  double all = 0;
};
cpu_times parse_cpu_times(std::string_view line);

}  // namespace muster::bench
