// What is to be known of the machine before measuring on it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <muster/team/machine.hpp>

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

/// About how long a message of so many bytes takes from one rank to another that waits for it: the
/// trip of a cache line (where there is one core, giving it up) and a copy in and out of memory
/// that both have. From what was measured of the machine and of no library, so that it is one for
/// all.
std::chrono::nanoseconds message_time(const muster::machine& seen, std::size_t bytes);

/// Jiffies in the first line of /proc/stat.
struct cpu_times {
  double busy = 0;
  double all = 0;
};
cpu_times parse_cpu_times(std::string_view line);

}  // namespace muster::bench
