// The order of events, against sorting them.

#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "tools/conformance/random.hpp"
#include "transports/sim/event_queue.hpp"

namespace muster::testing {
namespace {

using sim::event;
using sim::event_queue;
using key = std::pair<sim::picoseconds, std::uint64_t>;

event at(sim::picoseconds when, std::uint64_t order) {
  return {when, order, event::kind::run, static_cast<std::uint32_t>(order % 7), nullptr, order};
}

/// Whether the queue knows the next events, as many as it promises.
bool knows_upcoming(const event_queue& queue, const std::multiset<key>& expected) {
  auto next = expected.begin();
  for (std::size_t i = 0; i < event_queue::ahead && next != expected.end(); ++i, ++next) {
    const event* const one = queue.upcoming(i);
    if (one == nullptr || key(one->when, one->order) != *next) return false;
  }
  return queue.upcoming(expected.size()) == nullptr;
}

/// Pushes and pops at random, as many times as given, with times below `times`.
void check_random(std::uint64_t seed, std::size_t steps, std::size_t times) {
  INFO(how_to_replay());
  random_stream random(seed);
  event_queue queue;
  std::multiset<key> expected;
  bool all_well = true;
  for (std::uint64_t order = 0; order < steps || !expected.empty(); ++order) {
    const bool growing = order < steps;
    if (growing && !random.one_in(3)) {
      const auto when = static_cast<sim::picoseconds>(random.below(times));
      queue.push(at(when, order));
      expected.emplace(when, order);
    } else if (!expected.empty()) {
      const event next = queue.pop();
      all_well = all_well && key(next.when, next.order) == *expected.begin() &&
                 next.value == next.order && next.rank == next.order % 7;
      expected.erase(expected.begin());
    }
    all_well = all_well && queue.size() == expected.size();
    if (order % 16 == 0) all_well = all_well && knows_upcoming(queue, expected);
  }
  CHECK(all_well);
  CHECK(queue.empty());
}

TEST_CASE("random pushes and pops") {
  for (std::uint64_t i = 0; i < 50; ++i) check_random(derive(run_seed(), i), 300, 1000);
  check_random(run_seed(), 200'000, 1'000'000);
}

TEST_CASE("events of one time, in the order of their numbers") {
  for (std::uint64_t i = 0; i < 50; ++i) check_random(derive(run_seed(), i), 300, 3);
  check_random(run_seed(), 10'000, 1);
}

TEST_CASE("one event and none") {
  event_queue queue;
  CHECK(queue.empty());
  queue.push(at(-5, 1));
  CHECK(queue.size() == 1);
  CHECK(queue.pop().when == -5);
  CHECK(queue.empty());
}

}  // namespace
}  // namespace muster::testing
