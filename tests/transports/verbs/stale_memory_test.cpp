// Threads give memory back and take it again at the same addresses, as fast as they can, while one
// registers it: a device never sees what was there before, however late the news of it.

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/transports/verbs/watched_cache.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t slots = 3;
constexpr std::size_t pages_each = 4;
constexpr std::size_t bytes_each = pages_each * page;

std::uint64_t stamp_of(const std::byte* at) {
  std::uint64_t stamp = 0;
  std::memcpy(&stamp, at, sizeof stamp);
  return stamp;
}

/// Sees what is in memory when it is registered, as a device does afterwards.
class device final : public verbs::registrar {
public:
  struct seen final : verbs::region {
    std::uintptr_t begin = 0;
    std::vector<std::uint64_t> stamps;  // of each page
    std::uint64_t stamp_at(const std::byte* at) const {
      return stamps[(reinterpret_cast<std::uintptr_t>(at) - begin) / page];
    }
  };
  std::unique_ptr<verbs::region> enroll(std::span<std::byte> bytes, access) noexcept override {
    auto made = std::make_unique<seen>();
    made->begin = address_range::of(bytes).begin;
    for (std::size_t at = 0; at < bytes.size(); at += page) {
      made->stamps.push_back(stamp_of(bytes.data() + at));
    }
    return made;
  }
};

/// Where mappings come and go. Whoever has made one leaves it to be used, and it goes after that.
class slot {
public:
  explicit slot(std::byte* where) : where_(where) {}

  /// Makes a mapping as soon as there is none, which may be while the thread that has unmapped the
  /// last one still waits.
  void make(std::uint64_t stamp) {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    while (::mmap(where_, bytes_each, PROT_READ | PROT_WRITE, kind, -1, 0) != where_) {
      std::this_thread::yield();
    }
    for (std::size_t at = 0; at < bytes_each; at += page) {
      std::memcpy(where_ + at, &stamp, sizeof stamp);
    }
    stamp_.store(stamp, std::memory_order_release);
  }
  /// After the last use; another thread may make the next one before this returns.
  void unmake() { ::munmap(where_, bytes_each); }
  std::span<std::byte> bytes() const { return {where_, bytes_each}; }
  /// 0: there is none to be used
  std::uint64_t stamp() const { return stamp_.load(std::memory_order_acquire); }
  void done() {
    stamp_.store(0, std::memory_order_release);
    uses_.fetch_add(1, std::memory_order_release);
  }
  std::uint64_t uses() const { return uses_.load(std::memory_order_acquire); }

private:
  std::byte* where_;
  std::atomic<std::uint64_t> stamp_ = 0;
  std::atomic<std::uint64_t> uses_ = 0;
};

/// Two threads take turns: when a mapping was used, one unmaps it while the other makes the next.
class changers {
public:
  changers(slot& of, std::uint64_t first, std::uint64_t count)
      : threads_{std::jthread([&of, first, count] { run(of, 0, first, count); }),
                 std::jthread([&of, first, count] { run(of, 1, first, count); })} {}

private:
  static void run(slot& of, std::uint64_t which, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t turn = which; turn < count; turn += 2) {
      while (of.uses() + 1 < turn + 1) std::this_thread::yield();  // the one before was used
      of.make(first + turn);
      while (of.uses() < turn + 1) std::this_thread::yield();
      of.unmake();
    }
  }

  std::array<std::jthread, 2> threads_;
};

std::set<pid_t> threads() {
  std::set<pid_t> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    all.insert(std::stoi(each.path().filename()));
  }
  return all;
}

/// Threads that were begun since run only when nobody else does.
void slow_down_others_than(const std::set<pid_t>& before) {
  const sched_param none{};
  for (const pid_t each : threads()) {
    if (!before.contains(each)) CHECK(::sched_setscheduler(each, SCHED_IDLE, &none) == 0);
  }
}

void check_nobody_sees_the_past(bool is_slow) {
  INFO(how_to_replay());
  random_stream random(run_seed());
  device all;
  const auto before = threads();
  watched_cache one(all);
  if (!one.is_watching()) return;
  if (is_slow) slow_down_others_than(before);

  const std::uint64_t turns = is_slow ? 300 : 1500;
  std::byte* const space = find_space();
  std::array<slot, slots> some = {slot(space), slot(space + bytes_each),
                                  slot(space + 4 * bytes_each)};
  std::vector<std::unique_ptr<changers>> others;
  for (std::size_t i = 0; i < slots; ++i) {
    others.push_back(std::make_unique<changers>(some[i], 1 + i * turns, turns));
  }
  std::uint64_t stale = 0;
  for (std::uint64_t used = 0; used < slots * turns;) {
    slot& each = some[random.below(slots)];
    const std::uint64_t stamp = each.stamp();
    if (stamp == 0) {
      std::this_thread::yield();
      continue;
    }
    for (int times = 0; times < 2; ++times) {
      const std::size_t from = random.below(pages_each);
      const auto bytes = each.bytes().subspan(from * page);
      const auto memory = one.hold(bytes);
      REQUIRE(memory);
      const auto& region = static_cast<const device::seen&>(*memory);
      for (std::size_t at = 0; at < bytes.size(); at += page) {
        if (region.stamp_at(bytes.data() + at) != stamp) ++stale;
      }
    }
    each.done();
    ++used;
  }
  CHECK(stale == 0);
}

TEST_CASE("nobody sees what was there before") { check_nobody_sees_the_past(false); }

TEST_CASE("nobody does where the monitor is told late") { check_nobody_sees_the_past(true); }

}  // namespace
}  // namespace muster::testing
