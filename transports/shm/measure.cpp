#include "transports/shm/measure.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "transports/shm/first_line.hpp"
#include "transports/shm/foreign.hpp"
#include "transports/shm/trip.hpp"

namespace muster::shm {
namespace {

using nanoseconds = std::chrono::duration<double, std::nano>;

double now_ns() { return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double measure_yield_ns() {
  constexpr int rounds = 500;
  const double start = now_ns();
  for (int i = 0; i < rounds; ++i) ::sched_yield();
  return (now_ns() - start) / rounds;
}

constexpr std::size_t block = 256 * 1024;
constexpr std::size_t small_message = 2 * 1024 * 1024;  // fits into a last-level cache

/// The last-level cache, or a usual one where the system does not say.
std::size_t cache_bytes() {
  // Not sysconf: in virtual machines it tells the host's caches, of which a guest has a part.
  const std::string size = first_line("/sys/devices/system/cpu/cpu0/cache/index3/size");
  const std::size_t kibibytes = std::strtoul(size.c_str(), nullptr, 10);
  return kibibytes != 0 ? kibibytes << 10 : std::size_t{32} << 20;
}

/// Memory that the system has filled already: a page after another, at each one's first use, would
/// take most of the time here.
class filled_memory {
public:
  explicit filled_memory(std::size_t bytes)
      : base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
        bytes_(bytes) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
  }
  filled_memory(const filled_memory&) = delete;
  filled_memory& operator=(const filled_memory&) = delete;
  ~filled_memory() { ::munmap(base_, bytes_); }

  std::span<char> bytes() const noexcept { return {static_cast<char*>(base_), bytes_}; }

private:
  void* base_;
  std::size_t bytes_;
};

/// Best bytes per nanosecond of `copy_block(offset)` over `bytes`.
template <class CopyBlock>
double throughput(std::size_t bytes, int repetitions, CopyBlock copy_block) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double start = now_ns();
    for (std::size_t at = 0; at < bytes; at += block) copy_block(at);
    best = std::max(best, static_cast<double>(bytes) / (now_ns() - start));
  }
  return best;
}

/// A buffer of another process, and one here that is as long.
struct buffers {
  pid_t process;
  const char* theirs;
  std::span<const char> here;
};

copy_speed measure_copies(const buffers& from, std::span<char> to, std::size_t bytes,
                          int repetitions) {
  std::vector<char> stage(block, 1);
  copy_speed speed;
  speed.staged = throughput(bytes, repetitions, [&](std::size_t at) {
    std::memcpy(stage.data(), from.here.data() + at, block);
    std::memcpy(to.data() + at, stage.data(), block);
  });
  speed.foreign = throughput(bytes, repetitions, [&](std::size_t at) {
    read_process(from.process, from.theirs + at, to.data() + at, block);
  });
  return speed;
}

/// A small read's time: the best of some rounds, since others may want the processor, too.
double measure_call_ns(const buffers& from, std::span<char> to) {
  constexpr int calls = 8;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    const double start = now_ns();
    for (int i = 0; i < calls; ++i) read_process(from.process, from.theirs, to.data(), 64);
    best = std::min(best, (now_ns() - start) / calls);
  }
  return best;
}

/// Fills in what concerns copies; `process` is whose memory `from` is, at the same address here.
void measure_copies(muster::machine& seen, pid_t process, std::span<const char> from) {
  const filled_memory memory(from.size());
  const std::span<char> to = memory.bytes();
  const buffers both{process, from.data(), from};
  seen.foreign_allowed = read_process(process, from.data(), to.data(), 64);
  seen.foreign_call_ns = measure_call_ns(both, to);
  seen.in_cache = measure_copies(both, to, small_message, 3);
  // The kernel's first pass over another process's pages is slower by far than all later ones.
  seen.beyond_cache = measure_copies(both, to, from.size(), 2);
}

/// The same from a child of this process, as ranks will do it.
void measure_copies_in_child(muster::machine& seen, std::span<const char> from) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  let_others_read();  // as ranks will
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      measure_copies(seen, parent, from);
    } catch (const std::bad_alloc&) {
      ::_exit(1);
    }
    const ssize_t written = ::write(ends[1], &seen, sizeof seen);
    ::_exit(written == sizeof seen ? 0 : 1);
  }
  ::close(ends[1]);
  if (child > 0) {
    muster::machine reported;
    if (::read(ends[0], &reported, sizeof reported) == sizeof reported) seen = reported;
    ::waitpid(child, nullptr, 0);
  }
  ::close(ends[0]);
}

}  // namespace

muster::machine measure(ranks_are kind) {
  muster::machine seen;
  seen.processors = static_cast<std::uint32_t>(std::max<std::size_t>(1, allowed_cpus().size()));
  seen.cache_bytes = cache_bytes();
  // Of each of the two buffers, so that both together are more than the cache holds.
  const std::size_t beyond_cache = seen.cache_bytes / 8 * 5 / block * block;
  const filled_memory from(std::max(beyond_cache, small_message));
  if (kind == ranks_are::threads) {
    measure_copies(seen, ::getpid(), from.bytes());
  } else {
    measure_copies_in_child(seen, from.bytes());
  }
  // Threads copy from each other's memory without a call.
  seen.zero_copy_from =
      kind == ranks_are::threads ? machine::least_unstaged_bytes : seen.foreign_from(1, 0);
  seen.yield_ns = measure_yield_ns();
  seen.trip_ns = trip_probe(probe_cpus()).measure_ns().value_or(0);
  return seen;
}

muster::machine measure_reading(pid_t process, const char* offered) {
  muster::machine seen;
  seen.cache_bytes = cache_bytes();
  if (offered == nullptr) return seen;
  const std::vector<char> here(offered_bytes, 1);
  std::vector<char> to(offered_bytes, 2);
  const buffers both{process, offered, here};
  seen.foreign_allowed = read_process(process, offered, to.data(), offered_bytes);
  if (!seen.foreign_allowed) return seen;
  seen.foreign_call_ns = measure_call_ns(both, to);
  seen.in_cache = measure_copies(both, to, offered_bytes, 3);
  seen.beyond_cache = seen.in_cache;
  seen.zero_copy_from = seen.foreign_from(1, 0);
  return seen;
}

}  // namespace muster::shm
