#include "transports/shm/measure.hpp"

#include <sched.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "engine/progress/waiting.hpp"
#include "engine/wire/board.hpp"

namespace muster::shm {
namespace {

using nanoseconds = std::chrono::duration<double, std::nano>;

double now_ns() { return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> all;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<unsigned>(i), &set)) all.push_back(i);
  }
  return all;
}

bool pin_to(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(processor), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

double measure_yield_ns() {
  constexpr int rounds = 500;
  const double start = now_ns();
  for (int i = 0; i < rounds; ++i) ::sched_yield();
  return (now_ns() - start) / rounds;
}

constexpr std::size_t block = 256 * 1024;
constexpr std::size_t message = 4 * 1024 * 1024;  // beyond the second-level cache
constexpr int repetitions = 3;

/// Best bytes per nanosecond of `copy_block(offset)` over the message.
template <class CopyBlock>
double throughput(CopyBlock copy_block) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double start = now_ns();
    for (std::size_t at = 0; at < message; at += block) copy_block(at);
    best = std::max(best, static_cast<double>(message) / (now_ns() - start));
  }
  return best;
}

double measure_staged(const std::vector<char>& from, std::vector<char>& to) {
  std::vector<char> stage(block, 1);
  return throughput([&](std::size_t at) {
    std::memcpy(stage.data(), from.data() + at, block);
    std::memcpy(to.data() + at, stage.data(), block);
  });
}

bool read_process(pid_t process, const char* from, char* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{const_cast<char*>(from), bytes};
  return ::process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

struct foreign_figures {
  bool allowed = false;
  double call_ns = 0;
  double gb_per_s = 0;
};

foreign_figures measure_foreign(pid_t process, const std::vector<char>& from,
                                std::vector<char>& to) {
  foreign_figures seen;
  seen.allowed = read_process(process, from.data(), to.data(), 64);
  if (!seen.allowed) return seen;
  constexpr int calls = 100;
  const double start = now_ns();
  for (int i = 0; i < calls; ++i) read_process(process, from.data(), to.data(), 64);
  seen.call_ns = (now_ns() - start) / calls;
  seen.gb_per_s = throughput(
      [&](std::size_t at) { read_process(process, from.data() + at, to.data() + at, block); });
  return seen;
}

/// The same from a child of this process, as ranks will do it.
foreign_figures measure_foreign_in_child(const std::vector<char>& from) {
  foreign_figures seen;
  int ends[2];
  if (::pipe(ends) != 0) return seen;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char> to(message, 2);
    seen = measure_foreign(parent, from, to);
    const ssize_t written = ::write(ends[1], &seen, sizeof seen);
    ::_exit(written == sizeof seen ? 0 : 1);
  }
  ::close(ends[1]);
  if (child > 0) {
    foreign_figures reported;
    if (::read(ends[0], &reported, sizeof reported) == sizeof reported) seen = reported;
    ::waitpid(child, nullptr, 0);
  }
  ::close(ends[0]);
  return seen;
}

/// The block size from which one copy by the kernel, at the price of a call, beats two by the
/// ranks: where call + b/f = b/s.
std::size_t break_even(const foreign_figures& foreign, double staged_gb_per_s) {
  if (!foreign.allowed || foreign.gb_per_s <= staged_gb_per_s) return muster::machine::never;
  const double gain_per_byte = 1 / staged_gb_per_s - 1 / foreign.gb_per_s;
  // A block must also outweigh the two extra notices that reading from the sender's memory takes.
  constexpr double least = 16 * 1024;
  return static_cast<std::size_t>(std::max(least, foreign.call_ns / gain_per_byte));
}

}  // namespace

double measure_trip_ns(int processor, int other, int exchanges) {
  struct alignas(wire::cache_line) line {
    std::atomic<int> value{0};
  };
  line ping;
  line pong;
  std::atomic<bool> pinned{true};
  double elapsed = 0;
  const auto side = [&](int where, std::atomic<int>& mine, std::atomic<int>& theirs, bool first) {
    if (!pin_to(where)) pinned = false;
    double start = 0;
    for (int i = 1; i <= exchanges; ++i) {
      if (i == exchanges / 4) start = now_ns();  // the first quarter warms up
      if (first) mine.store(i, std::memory_order_release);
      for (int spins = 0; theirs.load(std::memory_order_acquire) < i; ++spins) {
        if (spins > 100000) ::sched_yield();  // the other is not running
      }
      if (!first) mine.store(i, std::memory_order_release);
    }
    if (first) elapsed = now_ns() - start;
  };
  {
    const std::jthread there(side, other, std::ref(pong.value), std::ref(ping.value), false);
    const std::jthread here(side, processor, std::ref(ping.value), std::ref(pong.value), true);
  }
  const int counted = exchanges - exchanges / 4 + 1;
  return pinned ? elapsed / counted / 2 : 0;
}

muster::machine measure(ranks_are kind) {
  muster::machine seen;
  const std::vector<int> processors = allowed_processors();
  seen.processors = static_cast<std::uint32_t>(std::max<std::size_t>(1, processors.size()));
  const std::vector<char> from(message, 1);
  std::vector<char> to(message, 2);
  const foreign_figures foreign = kind == ranks_are::threads ? measure_foreign(::getpid(), from, to)
                                                             : measure_foreign_in_child(from);
  seen.staged_gb_per_s = measure_staged(from, to);
  seen.foreign_allowed = foreign.allowed;
  seen.foreign_call_ns = foreign.call_ns;
  seen.foreign_gb_per_s = foreign.gb_per_s;
  seen.foreign_from = break_even(foreign, seen.staged_gb_per_s);
  seen.yield_ns = measure_yield_ns();
  if (processors.size() > 1) seen.trip_ns = measure_trip_ns(processors[0], processors[1], 2000);
  return seen;
}

}  // namespace muster::shm
