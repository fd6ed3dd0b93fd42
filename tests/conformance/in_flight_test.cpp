// Several operations of one team in flight at once, waited for in any order, with ranks that come
// late at random.

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tools/conformance/build.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

void check_random_worlds(std::size_t how_many, std::size_t calls, std::size_t largest_count) {
  for (std::size_t i = 0; i < how_many; ++i) {
    random_stream random(derive(run_seed(), i));
    const world_case world = random_world(random, sanitized ? 5 : 9);
    const conduct how = random_conduct(random);
    const std::string wrong =
        run_world(world, random_calls(random.next(), world.ranks, calls, largest_count), how);
    CHECK_MESSAGE(wrong.empty(), "world ", i, ", ", how.in_flight, " in flight, ", wrong);
  }
}

TEST_CASE("many short operations in flight") {
  check_random_worlds(rounds(300, 40), rounds(150, 100), 40);
}

TEST_CASE("operations of all lengths in flight") {
  check_random_worlds(rounds(200, 40), rounds(40, 25), 5000);
}

TEST_CASE("long operations in flight") { check_random_worlds(rounds(60, 12), 12, 60000); }

TEST_CASE("more operations in flight than there are lanes, by all algorithms") {
  constexpr std::size_t ranks[] = {4, 7};
  std::uint64_t number = 0;
  for (const world_case& world : worlds(std::span(ranks).first(sanitized ? 1 : 2))) {
    const crowd all = random_crowd(derive(run_seed(), number++), world.ranks);
    const std::string wrong = run_world(world, all.calls, all.how);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

constexpr std::size_t thousand = 1000;

TEST_CASE("a thousand operations of one team in flight") {
  constexpr std::size_t ranks[] = {4};
  for (const world_case& world : worlds(ranks, layouts, movements)) {
    const conduct how = {.in_flight = thousand, .unpunctual = true, .seed = run_seed()};
    const std::string wrong =
        run_world(world, random_calls(run_seed(), world.ranks, thousand, 300), how);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

/// A thousand on a team, its duplicate, its halves and its reverse, all in flight together.
task<> call_on_derived_teams(team& of, findings& found, const lateness& pause) {
  const auto copy = co_await duplicate(of);
  const auto half = co_await split(of, static_cast<int>(of.rank() % 2), 0);
  const auto reverse = co_await split(of, 0, -static_cast<int>(of.rank()));
  std::vector<team*> teams = {&of, copy.get(), half.get(), reverse.get()};
  std::vector<std::vector<spec>> calls;
  std::vector<conduct> how;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    const std::uint64_t seed = derive(run_seed(), i);
    calls.push_back(random_calls(seed, teams[i]->size(), thousand, 100));
    how.push_back({.in_flight = thousand, .unpunctual = true, .seed = seed});
  }
  std::vector<task<>> all;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    all.push_back(make_calls(*teams[i], calls[i], how[i], found, pause));
  }
  co_await when_all(std::move(all));
}

TEST_CASE("a thousand operations of each of several teams in flight") {
  const lateness never = [](random_stream&) -> task<> { co_return; };
  for (const layout nodes : {layout::one_node, layout::uneven}) {
    const world_case world = {4, nodes, movement::lent};
    const watchdog alive(describe(world));
    findings found;
    run_threads(
        world.ranks,
        [&](team& of) { start(of.engine(), call_on_derived_teams(of, found, never)).wait(); },
        options_for(world));
    const std::string wrong = found.take();
    CHECK_MESSAGE(wrong.empty(), describe(world), "; ", how_to_replay(), "\n", wrong);
  }
}

}  // namespace
}  // namespace muster::testing
