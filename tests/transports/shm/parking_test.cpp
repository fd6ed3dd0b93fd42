// Ranks that really fall asleep, and are woken every time.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

/// Pauses of all lengths around those after which a waiting rank goes to sleep.
void pause(random_stream& random) {
  if (random.one_in(2)) return;
  const std::chrono::microseconds length(1 << random.below(12));
  std::this_thread::sleep_for(random.one_in(8) ? 2 * length : length);
}

task<> random_operation(team& of, std::uint64_t choice, std::vector<int>& values) {
  switch (choice % 4) {
    case 0:
      co_await barrier(of);
      break;
    case 1:
      co_await allreduce(of, values, max);
      break;
    case 2:
      co_await bcast(of, values, choice / 4 % of.size());
      break;
    case 3:
      co_await reduce(of, values, max, choice / 4 % of.size());
      break;
  }
}

/// Each rank comes late in turn, the later the longer it takes until all have slept: on a busy
/// machine looking on takes so long that nobody does otherwise.
task<> meet_until_all_slept(team& of) {
  std::chrono::milliseconds late(1);
  for (std::size_t i = 0, slept = 0; slept == 0; ++i) {
    if (i % of.size() == of.rank()) std::this_thread::sleep_for(late);
    if (i % of.size() == of.size() - 1) late *= 2;
    co_await barrier(of);
    slept = of.engine().counted().sleeps;
    co_await allreduce(of, std::span(&slept, 1), min);
  }
}

/// \returns how often each rank slept
std::vector<std::uint64_t> doze(std::size_t ranks, std::size_t operations,
                                const thread_options& options) {
  std::vector<std::uint64_t> slept(ranks);
  run_threads(
      ranks,
      [&](team& of) {
        random_stream agreed(run_seed());
        random_stream mine(derive(run_seed(), of.rank() + 1));
        std::vector<int> values(20000);
        for (std::size_t i = 0; i < operations; ++i) {
          const std::uint64_t choice = agreed.next();
          pause(mine);
          start(random_operation(of, choice, values)).wait();
        }
        start(meet_until_all_slept(of)).wait();
        slept[of.rank()] = of.engine().counted().sleeps;
      },
      options);
  return slept;
}

void check_doze(std::size_t ranks, const thread_options& options) {
  const watchdog alive("a wake-up was lost", std::chrono::seconds(rounds(60, 120)));
  const auto slept = doze(ranks, rounds(1500, 400), options);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    INFO("rank ", rank, " of ", ranks, ": ", slept[rank], " sleeps; ", how_to_replay());
    CHECK(slept[rank] > 0);
  }
}

TEST_CASE("two ranks on one node") { check_doze(2, {}); }
TEST_CASE("ranks that outnumber cores") { check_doze(5, {.share_address_space = false}); }
TEST_CASE("ranks on several nodes") { check_doze(4, {.node_of = {0, 0, 1, 2}}); }

task<> meet_often(team& of, int times) {
  for (int i = 0; i < times; ++i) co_await barrier(of);
}

// Four ranks sleep until the root comes; the two others announce a lot meanwhile.
TEST_CASE("whoever sleeps is woken by whom it waits for, not by others") {
  const watchdog alive("wake-ups by others");
  static constexpr int meetings = 500;
  std::array<std::uint64_t, 7> slept{};
  run_threads(7, [&slept](team& of) {
    const bool is_busy = of.rank() == 1 || of.rank() == 2;
    const auto busy = start(split(of, is_busy ? 0 : no_color, 0)).wait();
    const std::uint64_t before = of.engine().counted().sleeps;
    if (is_busy) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      start(meet_often(*busy, meetings)).wait();
    }
    if (of.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    int value = 0;
    start(bcast(of, std::span(&value, 1), 0)).wait();
    slept[of.rank()] = of.engine().counted().sleeps - before;
  });
  for (const std::size_t rank : {3, 4, 5, 6}) {
    INFO("rank ", rank, ": ", slept[rank], " sleeps");
    WARN(slept[rank] > 0);  // but where other programs keep the machine busy
    CHECK(slept[rank] < meetings / 10);
  }
}

// Whoever needs several others asks the first that is missing; when that one comes just before the
// sleep, the next has to be asked.
TEST_CASE("some that are waited for come while a rank is falling asleep") {
  const watchdog alive("a wake-up was lost", std::chrono::seconds(rounds(60, 120)));
  run_threads(4, [](team& of) {
    of.choose(collective::barrier, "flat");
    random_stream random(derive(run_seed(), of.rank()));
    for (std::size_t i = 0; i < rounds(3000, 500); ++i) {
      // About as long as rank 0 looks before it sleeps; the next one comes a little later.
      const auto until = std::chrono::steady_clock::now() +
                         std::chrono::microseconds(of.rank() == 0 ? 0 : 480 + random.below(64));
      while (std::chrono::steady_clock::now() < until) {
        if (random.one_in(2)) std::this_thread::yield();
      }
      start(barrier(of)).wait();
    }
  });
}

// The narrowest race: one rank falls asleep just when the other announces. Both go through the same
// few instructions again and again, with the distance between them varied a little. Before it
// sleeps a rank also looks at what the other calls, so each call differs from the ones before it.
TEST_CASE("announcing to a rank that is falling asleep") {
  const watchdog alive("a wake-up was lost", std::chrono::seconds(rounds(60, 120)));
  std::array<std::uint64_t, 2> slept{};
  run_threads(2, [&slept](team& of) {
    random_stream random(derive(run_seed(), of.rank()));
    std::array<int, 7> values{};
    for (std::size_t i = 0; i < rounds(20000, 3000); ++i) {
      const bool late = (i % 2 == 0) == (of.rank() == 0);
      // About as long as the other looks before it sleeps; where other programs keep that from
      // sleeping, now and then much longer.
      const bool in_vain = i > rounds(10000, 1500) && of.engine().counted().sleeps == 0;
      const std::size_t longer = in_vain && i % 16 < 2 ? 100 : 1;
      const auto until = std::chrono::steady_clock::now() +
                         std::chrono::microseconds(late ? longer * (80 + random.below(80)) : 0);
      while (std::chrono::steady_clock::now() < until) {
      }
      start(allreduce(of, std::span(values).first(1 + i % values.size()), max)).wait();
    }
    slept[of.rank()] = of.engine().counted().sleeps;
  });
  WARN(slept[0] + slept[1] > 0);  // but where other programs keep the machine busy
}

TEST_CASE("progress threads fall asleep at once and are woken by starts and by peers") {
  const watchdog alive("a wake-up was lost, progress threads",
                       std::chrono::seconds(rounds(60, 120)));
  run_threads(3,
              [](team& of) {
                random_stream random(derive(run_seed(), of.rank()));
                for (std::size_t i = 0; i < rounds(500, 150); ++i) {
                  pause(random);
                  start(barrier(of)).wait();
                }
              },
              {.progress = progress::thread});
}

}  // namespace
}  // namespace muster::testing
