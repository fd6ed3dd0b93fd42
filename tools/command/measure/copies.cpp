#include "tools/command/measure/copies.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <muster/call/combine.hpp>
#include <muster/progress/affinity.hpp>

#include "tools/command/measure/stopwatch.hpp"

namespace muster::measure {
namespace {

constexpr std::size_t block = 32 * 1024;

/// Copies blocks from one half of a working set to the other, round and round.
class copier {
public:
  explicit copier(std::size_t working_set)
      : half_(std::max(working_set / 2 / block, std::size_t{1}) * block), memory_(2 * half_, 1) {}

  /// Bytes per nanosecond of one round.
  double round() {
    const stopwatch watch;
    for (std::size_t at = 0; at < half_; at += block) {
      std::memcpy(memory_.data() + half_ + at, memory_.data() + at, block);
    }
    return static_cast<double>(half_) / watch.ns();
  }

private:
  std::size_t half_;
  std::vector<char> memory_;
};

double copy_rate(std::size_t working_set, int rounds) {
  copier one(working_set);
  one.round();
  std::vector<double> rates;
  for (int i = 0; i < rounds; ++i) rates.push_back(one.round());
  return bench::median(rates);
}

/// Copying between memory beyond the caches and a block that stays in the core's own: as good as
/// reading, or writing, that memory alone.
double one_sided_rate(std::size_t working_set, int rounds, bool written) {
  std::vector<char> near(block, 1);
  std::vector<char> far(working_set / block * block, 1);
  std::vector<double> rates;
  for (int i = 0; i < rounds; ++i) {
    const stopwatch watch;
    for (std::size_t at = 0; at < far.size(); at += block) {
      if (written) {
        std::memcpy(far.data() + at, near.data(), block);
      } else {
        std::memcpy(near.data(), far.data() + at, block);
      }
    }
    rates.push_back(static_cast<double>(far.size()) / watch.ns());
  }
  return bench::median(rates);
}

/// What all processors copy together, beyond the caches.
double rate_of_all(std::span<const int> cpus, std::size_t working_set, int rounds) {
  std::vector<double> rates(cpus.size());
  std::atomic<std::size_t> ready{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      threads.emplace_back([&, i] {
        const bound_for_now here(cpus[i]);
        copier one(working_set / cpus.size());
        one.round();
        ready.fetch_add(1);
        while (ready.load() < cpus.size()) std::this_thread::yield();
        std::vector<double> mine;
        for (int round = 0; round < rounds; ++round) mine.push_back(one.round());
        rates[i] = bench::median(mine);
      });
    }
  }
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

/// Copying what another core has written, or over what it has read: a block goes from one core's
/// memory through one that both share to the other's.
double other_core_rate(int writer, int reader, double core_rate) {
  std::vector<char> shared(block);
  std::atomic<int> turn{0};
  constexpr int rounds = 400;
  const auto copy_in_turn = [&](int cpu, int own, bool in) {
    const bound_for_now here(cpu);
    std::vector<char> mine(block, 1);
    std::vector<double> each;
    for (int i = 0; i < rounds; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + own) std::this_thread::yield();
      const stopwatch watch;
      if (in) {
        std::memcpy(shared.data(), mine.data(), block);
      } else {
        std::memcpy(mine.data(), shared.data(), block);
      }
      each.push_back(watch.ns());
      turn.store(2 * i + own + 1, std::memory_order_release);
    }
    return bench::median(each);
  };
  double read = 0;
  std::jthread other([&] { read = copy_in_turn(reader, 1, false); });
  const double written = copy_in_turn(writer, 0, true);
  other.join();
  // One side of each copy was the core's own.
  const double own_side = block / (2 * core_rate);
  return block / std::max(written + read - 2 * own_side, 1.0);
}

double combine_rate() {
  constexpr std::size_t count = 4096;
  std::vector<double> left(count, 1);
  std::vector<double> right(count, 2);
  std::vector<double> sum(count);
  const std::array<const std::byte*, 2> inputs = {reinterpret_cast<const std::byte*>(left.data()),
                                                  reinterpret_cast<const std::byte*>(right.data())};
  const double ns = median_ns(50, 20, [&] {
    combine(reduction::sum, datatype::float64, reinterpret_cast<std::byte*>(sum.data()), inputs,
            count);
  });
  return static_cast<double>(count * sizeof(double)) / ns;
}

double small_copy_ns() {
  std::array<char, 4096> memory{};
  std::size_t at = 0;
  return median_ns(50, 1000, [&] {
    at = (at + 64) % 2048;
    // The size is not known when this is compiled, as in a collective.
    const volatile std::size_t bytes = 8;
    std::memcpy(memory.data() + 2048 + at, memory.data() + at, bytes);
  });
}

}  // namespace

double other_core_gbs(std::span<const int> cpus, double core_copy_gbs) {
  if (cpus.size() < 2) return core_copy_gbs;
  return other_core_rate(cpus.front(), cpus.back(), core_copy_gbs);
}

void copies(sim::model& result, std::span<const int> cpus, std::size_t core_cache,
            std::size_t node_cache) {
  constexpr int rounds = 9;
  sim::model::memory_parameters& memory = result.memory;
  memory.core_cache_bytes = core_cache;
  memory.cache_bytes = node_cache;
  memory.core_copy_gbs = copy_rate(core_cache / 4, 100 * rounds);
  memory.other_core_gbs = other_core_gbs(cpus, memory.core_copy_gbs);
  memory.cache_copy_gbs = copy_rate(node_cache / 4, rounds);
  memory.memory_read_gbs = one_sided_rate(4 * node_cache, rounds, false);
  memory.memory_write_gbs = one_sided_rate(4 * node_cache, rounds, true);
  memory.node_memory_gbs = rate_of_all(cpus, 4 * node_cache, rounds);
  memory.combine_gbs = combine_rate();
  result.core.copy_call_ns = small_copy_ns();
}

}  // namespace muster::measure
