// Whoever waits long uses no processor.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include <muster/muster.hpp>

#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

task<std::chrono::nanoseconds> processor_time_of_engine() { co_return processor_time(); }

constexpr std::chrono::nanoseconds wait = 1s;
constexpr auto allowed = wait / 50;

TEST_CASE("an idle engine with a thread of its own") {
  const watchdog alive("idle engine");
  for (const waiting_policy policy : {waiting_policy::core_of_its_own(),
                                      waiting_policy::cores_shared(), waiting_policy::asleep()}) {
    engine here({.progress = progress::thread, .waiting = policy});
    const auto before = start(here, processor_time_of_engine()).wait();
    std::this_thread::sleep_for(wait);
    CHECK(start(here, processor_time_of_engine()).wait() - before < allowed);
  }
}

std::array<std::chrono::nanoseconds, 3> spent_waiting_in_a_barrier(const thread_options& options) {
  std::array<std::chrono::nanoseconds, 3> spent{};
  run_threads(
      3,
      [&spent](team& of) {
        start(barrier(of)).wait();
        if (of.rank() == 0) std::this_thread::sleep_for(wait);
        const auto before = processor_time();
        start(barrier(of)).wait();
        spent[of.rank()] = processor_time() - before;
      },
      options);
  return spent;
}

TEST_CASE("ranks that wait for a late one in a barrier") {
  const watchdog alive("idle in a barrier");
  for (const auto& spent : spent_waiting_in_a_barrier({})) CHECK(spent < allowed);
  const thread_options nodes{.node_of = {0, 1, 1}};
  for (const auto& spent : spent_waiting_in_a_barrier(nodes)) CHECK(spent < allowed);
}

TEST_CASE("a rank that waits with a deadline") {
  const watchdog alive("idle with a deadline");
  run_threads(2, [](team& of) {
    if (of.rank() == 0) return std::this_thread::sleep_for(wait * 3 / 2);
    const auto before = processor_time();
    CHECK_THROWS_AS(start(of.engine(), with_timeout(wait, barrier(of))).wait(), error);
    CHECK(processor_time() - before < allowed);
  });
}

}  // namespace
}  // namespace muster::testing
