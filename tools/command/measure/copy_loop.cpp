#include "tools/command/measure/copy_loop.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <muster/progress/affinity.hpp>

#include "tools/command/measure/stopwatch.hpp"

namespace muster::measure {
namespace {

using bench::buffer_ring;
using bench::slot;

constexpr double enough_ns = 1'000'000;
constexpr std::size_t least_copies = 4;

void copy(const slot& from, const slot& to) {
  std::memcpy(to.send.data(), from.send.data(), to.send.size_bytes());
}

/// How many copies of so many bytes are timed together: some 64 KiB, so that reading the clock and
/// learning how far the other has come cost little.
std::size_t batch_of(std::size_t bytes) {
  constexpr std::size_t batch_bytes = 64 * 1024;
  constexpr std::size_t most = 16;
  return std::clamp<std::size_t>(batch_bytes / bytes, 1, most);
}

/// Times batches for long enough. The lower quartile: interrupts only lengthen.
template <class Batch>
double copy_ns(std::size_t batch, Batch take_batch) {
  std::vector<double> each;
  take_batch();  // brings the code, and pages never touched
  const stopwatch all;
  while (each.size() < least_copies || all.ns() < enough_ns) {
    const stopwatch watch;
    take_batch();
    each.push_back(watch.ns() / static_cast<double>(batch));
  }
  return bench::percentile(each, 0.25);
}

/// How far the writer and the reader have come. Counts on lines of their own, as ranks would have.
struct pace {
  alignas(128) std::atomic<std::uint64_t> written{0};
  alignas(128) std::atomic<std::uint64_t> taken{0};
  alignas(128) std::atomic<bool> over{false};
};

void write_until_over(buffer_ring& ring, pace& at, std::size_t batch, int cpu) {
  const bound_for_now here(cpu);
  // A slot is changed again once it was taken; one batch must always fit.
  const std::uint64_t ahead = std::max(ring.slots().size(), batch) - batch;
  for (std::uint64_t done = 0; !at.over.load(std::memory_order_relaxed);) {
    // Acquire: the reader is through with the slot before it is written to.
    if (done > at.taken.load(std::memory_order_acquire) + ahead) continue;
    for (std::size_t i = 0; i < batch; ++i) ring.next();
    done += batch;
    at.written.store(done, std::memory_order_release);  // after what was written
  }
}

double crossing_ns(buffer_ring& source, buffer_ring& target, std::size_t batch,
                   const shm::cpu_pair& cpus) {
  pace at;
  const std::jthread writer([&] { write_until_over(source, at, batch, cpus.second); });
  const bound_for_now here(cpus.first);
  std::uint64_t done = 0;
  const double found = copy_ns(batch, [&] {
    while (at.written.load(std::memory_order_acquire) < done + batch) {
    }
    for (std::size_t i = 0; i < batch; ++i, ++done) {
      copy(source.slots()[done % source.slots().size()], target.next());
    }
    at.taken.store(done, std::memory_order_release);  // after the last was read
  });
  at.over.store(true, std::memory_order_relaxed);
  return found;
}

double near_ns(const buffer_ring& source, buffer_ring& target, std::size_t batch) {
  return copy_ns(batch, [&] {
    for (std::size_t i = 0; i < batch; ++i) copy(source.slots()[0], target.next());
  });
}

}  // namespace

copy_times copy_loop::measure(std::size_t bytes, std::size_t ranks, const bench::calling& how) {
  const std::size_t words = bytes / bench::word_bytes;
  source_.arrange({words, 0, true}, ranks, how);
  target_.arrange({words, 0, false}, ranks, how);
  const std::size_t most = std::max<std::size_t>(source_.slots().size() / 2, 1);
  const std::size_t batch = std::min(batch_of(bytes), most);
  copy_times found;
  found.near_ns = near_ns(source_, target_, batch);
  found.crossing_ns =
      cpus_ && !how.same_buffers ? crossing_ns(source_, target_, batch, *cpus_) : found.near_ns;
  return found;
}

}  // namespace muster::measure
