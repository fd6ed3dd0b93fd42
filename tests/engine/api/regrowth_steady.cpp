// Growing again and again, of whole teams: what it takes is given back, and a rank that gives up
// before all have come comes again.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include <muster/muster.hpp>

namespace {

using namespace std::chrono_literals;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong %s\n", what);
  std::abort();
}

/// Descriptors, mappings and threads of this process.
struct possessions {
  static std::size_t count(const char* folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }
  static std::size_t lines(const char* file) {
    std::ifstream from(file);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator(from), {}, '\n'));
  }
  std::size_t descriptors = count("/proc/self/fd");
  std::size_t mappings = lines("/proc/self/maps");
  std::size_t threads = count("/proc/self/task");
};

/// Not one more each time. A few come and go with malloc, and with threads that have just ended.
void require_as_many(const possessions& before, const possessions& after, std::size_t times) {
  std::fprintf(stderr, "before %zu descriptors, %zu mappings, %zu threads; after %zu, %zu, %zu\n",
               before.descriptors, before.mappings, before.threads, after.descriptors,
               after.mappings, after.threads);
  require(after.descriptors < before.descriptors + times, "descriptors");
  require(after.mappings < before.mappings + times, "mappings");
  require(after.threads < before.threads + times, "threads");
}

muster::task<std::unique_ptr<muster::team>> grown(muster::team& of) {
  auto made = co_await muster::grow(of);
  const std::size_t sum = co_await muster::allreduce(*made, made->rank(), muster::sum);
  require(sum == made->size() * (made->size() - 1) / 2, "sum");
  co_return made;
}

/// Of which the team it was made of need no longer be there.
muster::task<> split_apart(std::unique_ptr<muster::team> whole) {
  const auto apart = co_await muster::split(*whole, static_cast<int>(whole->rank() % 2), 0);
  whole.reset();
  const std::size_t all = co_await muster::allreduce(*apart, std::size_t{1}, muster::sum);
  require(all == apart->size(), "part");
}

muster::task<> again_and_again(muster::team& first) {
  auto now = co_await grown(first);
  for (int i = 0; i < 4; ++i) now = co_await grown(*now);
  const possessions before;
  constexpr int times = 20;
  for (int i = 0; i < times; ++i) now = co_await grown(*now);
  co_await muster::barrier(*now);
  require_as_many(before, possessions(), times);
  co_await split_apart(std::move(now));
}

muster::task<> early_and_late(muster::team& first) {
  const bool is_late = first.rank() == first.size() - 1;
  if (is_late) std::this_thread::sleep_for(600ms);
  bool gave_up = false;
  try {
    if (!is_late) co_await muster::with_timeout(100ms, muster::grow(first));
  } catch (const muster::error& why) {
    gave_up = why.code() == muster::errc::deadline_exceeded;
  }
  require(gave_up != is_late, "end");
  const auto made = co_await grown(first);
}

}  // namespace

int main() {
  muster::world world;
  world.run(early_and_late(world.team()));
  world.run(again_and_again(world.team()));
  std::printf("rank %zu: well\n", world.team().rank());
}
