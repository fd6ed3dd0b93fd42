#include "tools/command/measure/memory_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>

#include <muster/base/stream_copy.hpp>
#include <muster/progress/affinity.hpp>

#include "tools/command/measure/stopwatch.hpp"

namespace muster::measure {
namespace {

constexpr double enough_ns = 10'000'000;
constexpr int samples = 3;

/// Of all processors together, sources and targets.
std::size_t memory_bytes() {
  constexpr std::size_t least = std::size_t{256} << 20;
  constexpr std::size_t most = std::size_t{2} << 30;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(4 * static_cast<std::size_t>(std::max(cache, 0L)), least, most);
}

void plain_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

using copy_function = void (*)(std::byte*, const std::byte*, std::size_t);

/// Copies piece after piece, over and over, for long enough; bytes a nanosecond.
double copying_rate(std::span<const std::byte> source, std::span<std::byte> target,
                    copy_function copy) {
  constexpr std::size_t piece = std::size_t{256} << 10;
  std::size_t copied = 0;
  const stopwatch watch;
  do {
    const std::size_t at = copied % (source.size() - piece + 1) / piece * piece;
    copy(target.data() + at, source.data() + at, piece);
    copied += piece;
  } while (watch.ns() < enough_ns);
  return static_cast<double>(copied) / watch.ns();
}

}  // namespace

double memory_loop::copy_ns_a_byte(std::span<const int> cpus) {
  if (fields_.size() != cpus.size()) {
    fields_.assign(cpus.size(), {});
    const std::size_t each = memory_bytes() / (2 * cpus.size());
    for (field& one : fields_) {
      one.source.resize(each);
      one.target.resize(each);
    }
  }
  double best = 0;
  for (const copy_function copy : {plain_copy, stream_copy}) {
    for (int i = 0; i < samples; ++i) {
      std::vector<double> rates(cpus.size());
      std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
      {
        std::vector<std::jthread> copiers;
        for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
          copiers.emplace_back([&, cpu] {
            const bound_for_now here(cpus[cpu]);
            start.arrive_and_wait();
            rates[cpu] = copying_rate(fields_[cpu].source, fields_[cpu].target, copy);
          });
        }
      }
      double together = 0;
      for (const double rate : rates) together += rate;
      best = std::max(best, together);
    }
  }
  return 1 / best;
}

}  // namespace muster::measure
