#include "tools/conformance/rows.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <span>
#include <vector>

#include "tools/conformance/neighbors.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

std::string title_of(const algorithm& row, const world_case& world) {
  return std::string(name(row.what)) + " " + std::string(row.id) + ", " + describe(world);
}

/// Local peers are drawn at random, and some of the calls are others than the row's.
task<std::size_t> call_neighbors(team& of, findings& found, const lateness& pause) {
  const neighbor_calls some{
      .seed = run_seed(), .calls = 60, .in_flight = 3, .largest = 40000, .unpunctual = true};
  co_await make_neighbor_calls(of, some, found, pause);
  co_return some.calls;
}

std::string with_title(const std::string& wrong, const algorithm& row, const world_case& world) {
  if (wrong.empty()) return wrong;
  return title_of(row, world) + "; " + how_to_replay() + "\n" + wrong;
}

void note_failures(sim::simulation& all, findings& found) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto failure = all.rank_at(i).failure();
    if (failure) found.add("rank " + std::to_string(i) + " failed: " + text_of(failure));
  }
}

}  // namespace

task<std::size_t> call_row(const algorithm& row, std::span<const spec> calls, team& of,
                           findings& found, const lateness& pause) {
  const conduct how{.in_flight = 3, .unpunctual = true, .seed = run_seed()};
  std::size_t made = 0;
  for (const std::string& choice : choices_of(row)) {
    of.choose(row.what, choice);
    if (has_neighbors(row.what)) made += co_await call_neighbors(of, found, pause);
    co_await make_calls(of, calls, how, found, pause);
    made += calls.size();
  }
  of.choose(row.what, "");
  co_return made;
}

row_outcome run_row(const algorithm& row, catalog rows, const world_case& world) {
  const watchdog alive(title_of(row, world));
  std::atomic<std::size_t> calls = 0;
  findings found;
  const lateness pause = come_late;
  const auto run_rank = [&](team& of) {
    const std::vector<spec> its = calls_for(row, of);
    calls = start(of.engine(), call_row(row, its, of, found, pause)).wait();
  };
  thread_options options = options_for(world);
  options.algorithms = rows;
  try {
    run_threads(world.ranks, run_rank, options);
  } catch (const std::exception& why) {
    found.add(std::string("exception: ") + why.what());
  }
  return {.calls = calls, .wrong = with_title(found.take(), row, world)};
}

row_outcome simulate_row(const algorithm& row, catalog rows, const world_case& world,
                         const simulated& in, std::size_t largest_count) {
  constexpr auto longest = std::chrono::microseconds(50);
  const watchdog alive(title_of(row, world));
  std::size_t calls = 0;
  findings found;  // outlives the simulation, whose coroutines may end with it
  sim::simulation all(in.model, rows, in.options);
  std::vector<spec> each = calls_for(row, all.rank_at(0).team());
  std::erase_if(each, [&](const spec& call) { return call.count > largest_count; });
  try {
    all.run([&](sim::rank& me) -> task<> {
      const lateness pause = rests(me, longest);
      calls = co_await call_row(row, each, me.team(), found, pause);
    });
  } catch (const sim::deadlock& why) {
    found.add(why.what());
  }
  note_failures(all, found);
  return {.calls = calls, .wrong = with_title(found.take(), row, world)};
}

}  // namespace muster::testing
