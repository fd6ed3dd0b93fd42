#include "tools/report/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

namespace muster::bench {
namespace {

/// What follows `name` and a colon in a file of such lines.
std::optional<std::string> value_in(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

cpu_times read_cpu_times() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return parse_cpu_times(line);
}

}  // namespace

std::size_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string machine_name() {
  const std::size_t cpus = usable_cpus();
  return fmt::format("{}, {} CPU{}",
                     value_in("/proc/cpuinfo", "model name").value_or("unknown processor"), cpus,
                     cpus == 1 ? "" : "s");
}

std::string utc_date() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

std::size_t available_memory() {
  const auto text = value_in("/proc/meminfo", "MemAvailable");
  if (!text) return std::numeric_limits<std::size_t>::max();
  return std::stoull(*text) * 1024;
}

double busy_share() {
  const cpu_times before = read_cpu_times();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const cpu_times after = read_cpu_times();
  const double all = after.all - before.all;
  return all > 0 ? (after.busy - before.busy) / all : 0;
}

std::chrono::nanoseconds message_time(const muster::machine& seen, std::size_t bytes) {
  const bool cached = 2 * bytes <= seen.cache_bytes;  // what is sent, and what is received
  const double speed = (cached ? seen.in_cache : seen.beyond_cache).staged;
  const double notice_ns = seen.trip_ns > 0 ? seen.trip_ns : seen.yield_ns;
  const double copy_ns = speed > 0 ? static_cast<double>(bytes) / speed : 0;
  return std::chrono::nanoseconds(std::llround(notice_ns + copy_ns));
}

cpu_times parse_cpu_times(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string name;
  words >> name;
  cpu_times times;
  // user nice system idle iowait irq softirq steal; guest times are in user's already
  constexpr int columns = 8;
  for (int column = 0; column < columns; ++column) {
    double jiffies = 0;
    if (!(words >> jiffies)) break;
    times.all += jiffies;
    const bool idle = column == 3 || column == 4;
    if (!idle) times.busy += jiffies;
  }
  return times;
}

}  // namespace muster::bench
