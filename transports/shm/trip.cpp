#include "transports/shm/trip.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <muster/progress/affinity.hpp>

#include "transports/shm/first_line.hpp"

namespace muster::shm {
namespace {

bool share_a_core(int cpu, int other) {
  return lists_cpu(first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                              "/topology/thread_siblings_list"),
                   other);
}

/// The line that travels: one side writes odd numbers, the other the even ones that follow.
struct rally {
  alignas(128) std::atomic<std::uint64_t> turn{0};
  alignas(128) std::atomic<bool> over{false};

  /// Waits for `value`; false when the other side has given up.
  bool await(std::uint64_t value) const {
    while (turn.load(std::memory_order_acquire) != value) {
      if (over.load(std::memory_order_relaxed)) return false;
    }
    return true;
  }
};

void play_back(rally& game, int cpu) {
  if (!bind_to(cpu)) {
    game.over.store(true, std::memory_order_relaxed);
    return;
  }
  for (std::uint64_t turn = 1; game.await(turn); turn += 2) {
    game.turn.store(turn + 1, std::memory_order_release);
  }
}

/// The lower quartile over short volleys: an interrupt lengthens the one that it falls into, and
/// the first waits for the other thread to start.
std::optional<double> play(rally& game, int cpu, std::chrono::nanoseconds duration) {
  using clock = std::chrono::steady_clock;
  constexpr int trips_in_volley = 100;
  constexpr std::size_t fewest_volleys = 8;
  std::vector<double> trips_ns;
  std::uint64_t turn = 0;
  bool together = bind_to(cpu);
  const auto end = clock::now() + duration;
  while (together) {
    const auto start = clock::now();
    for (int i = 0; i < trips_in_volley && together; i += 2) {
      game.turn.store(turn + 1, std::memory_order_release);
      together = game.await(turn += 2);
    }
    const auto now = clock::now();
    const std::chrono::duration<double, std::nano> spent = now - start;
    if (together) trips_ns.push_back(spent.count() / trips_in_volley);
    if (now >= end && trips_ns.size() >= fewest_volleys) break;
  }
  game.over.store(true, std::memory_order_relaxed);
  if (!together) return std::nullopt;
  const auto quartile = trips_ns.begin() + static_cast<std::ptrdiff_t>(trips_ns.size() / 4);
  std::nth_element(trips_ns.begin(), quartile, trips_ns.end());
  return *quartile;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool lists_cpu(std::string_view cpu_list, int cpu) {
  while (!cpu_list.empty()) {
    const std::size_t comma = cpu_list.find(',');
    const std::string_view part = cpu_list.substr(0, comma);
    cpu_list.remove_prefix(comma == std::string_view::npos ? cpu_list.size() : comma + 1);
    int first = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    if (error != std::errc{}) continue;
    int last = first;
    if (end != part.data() + part.size() && *end == '-') {
      std::from_chars(end + 1, part.data() + part.size(), last);
    }
    if (first <= cpu && cpu <= last) return true;
  }
  return false;
}

std::optional<cpu_pair> probe_cpus() {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) return std::nullopt;
  for (const int other : cpus) {
    if (other != cpus[0] && !share_a_core(cpus[0], other)) return cpu_pair{cpus[0], other};
  }
  return cpu_pair{cpus[0], cpus[1]};
}

std::optional<double> trip_probe::measure_ns() {
  if (!cpus_) return std::nullopt;
  rally game;
  std::optional<double> found;
  std::jthread other([&] { play_back(game, cpus_->second); });
  std::jthread one([&] { found = play(game, cpus_->first, duration); });
  one.join();
  other.join();
  if (!found) cpus_.reset();  // pinning is refused: it will be refused again
  return found;
}

}  // namespace muster::shm
