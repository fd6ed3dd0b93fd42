// The same sweeps under virtual time, where chance has a seed; and ranks, cores, networks and
// mishaps that this machine does not have.

#include <doctest/doctest.h>

#include <array>

#include "algos/catalog.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/rows.hpp"
#include "tools/conformance/simulated.hpp"

namespace muster::testing {
namespace {

void check_all(std::span<const world_case> each, std::span<const std::size_t> counts) {
  for (const world_case& world : each) {
    const std::string wrong =
        run_simulated(world, all_calls(world.ranks, counts, datatype::int32, sum), {});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

std::span<const std::size_t> few_rank_counts() {
  static constexpr std::size_t plain[] = {2, 3, 5, 8};
  static constexpr std::size_t sanitizers[] = {3};
  if (sanitized) return sanitizers;
  return plain;
}

TEST_CASE("short messages") {
  constexpr std::size_t counts[] = {0, 1, 7, 8, 64};
  constexpr movement any[] = {movement::staged};
  check_all(worlds(rank_counts(), layouts, any), counts);
}

TEST_CASE("middling messages") {
  constexpr std::size_t counts[] = {4095};
  check_all(worlds_in_turn(rank_counts(), run_seed() + 1), counts);
}

TEST_CASE("long messages") {
  constexpr std::size_t counts[] = {65536};
  check_all(worlds_in_turn(few_rank_counts(), run_seed() + 2), counts);
}

TEST_CASE("very long messages") {
  constexpr std::size_t counts[] = {(std::size_t{1} << 20) + 3};
  constexpr std::size_t ranks[] = {3, 4};
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  check_all(worlds_in_turn(std::span(ranks).first(sanitized ? 1 : 2), run_seed(), nodes), counts);
}

TEST_CASE("shared buffers") {
  constexpr std::size_t counts[] = {0, 1, 64, 4095, 65536};
  constexpr std::size_t ranks[] = {1, 2, 4, 7};
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  std::uint64_t turn = run_seed();
  for (const memory buffers : {memory::shared, memory::mixed}) {
    const auto some = std::span(ranks).first(sanitized ? 2 : 4);
    for (const world_case& world : worlds_in_turn(some, turn++, nodes)) {
      const auto calls = all_calls(world.ranks, counts, datatype::uint16, max);
      const std::string wrong = run_simulated(world, calls, {.buffers = buffers});
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

// ---- every algorithm, chosen by hand

constexpr std::size_t any_count = 40000;

void check_row(const algorithm& row, const world_case& world,
               std::size_t largest_count = any_count) {
  const row_outcome found =
      simulate_row(row, algos::catalog(), world, simulate(world), largest_count);
  CHECK_MESSAGE(found.wrong.empty(), found.wrong);
}

TEST_CASE("every algorithm wherever it suits") {
  constexpr std::size_t ranks[] = {1, 2, 3, 5, 8, 9};
  constexpr std::size_t fewer[] = {1, 2, 3, 5};
  const auto counts = sanitized ? std::span<const std::size_t>(fewer) : ranks;
  std::uint64_t turn = run_seed();
  std::uint64_t number = 0;
  for (const algorithm& row : tested_rows()) {
    for (const world_case& world : worlds_in_turn(counts, turn++)) {
      if (is_tried(number++)) check_row(row, world);
    }
  }
}

// On one kind of nodes, in turn. References for many ranks and long messages take most of the time.
TEST_CASE("every algorithm of all other numbers of ranks, short messages") {
  constexpr std::size_t ranks[] = {4, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17};
  std::uint64_t turn = run_seed();
  for (const algorithm& row : tested_rows()) {
    for (const std::size_t count : std::span(ranks).first(sanitized ? 1 : std::size(ranks))) {
      const layout nodes = layouts[turn++ % std::size(layouts)];
      check_row(row, {count, nodes, movements[turn % std::size(movements)]}, 500);
    }
  }
}

// Places that make groups of all kinds: unknown ones, caches of equal and of left-over size, and,
// where ranks share cores, neighbors in rank that are far apart.
TEST_CASE("every algorithm of large nodes, whatever the ranks' places") {
  struct caches {
    std::size_t ranks, cores, cores_a_cache;
  };
  constexpr caches plain[] = {{24, 24, 0}, {33, 33, 8}, {50, 50, 16}, {50, 20, 3}, {64, 64, 1}};
  for (const caches& each : std::span(plain).first(sanitized ? 3 : std::size(plain))) {
    const world_case world{each.ranks, layout::one_node, movement::staged};
    simulated in = simulate(world);
    in.model.cluster.cores_a_node = each.cores;
    in.model.cluster.cores_a_cache = each.cores_a_cache;
    in.model.memory.line_read_ns = 10;
    for (const algorithm& row : tested_rows()) {
      if (row.id != "grouped") continue;
      const std::string wrong = simulate_row(row, algos::catalog(), world, in).wrong;
      CHECK_MESSAGE(wrong.empty(), each.cores, " cores, ", each.cores_a_cache, " a cache; ", wrong);
    }
  }
}

// ---- in flight, late, disturbed

void check_random_worlds(std::size_t how_many, std::size_t calls, std::size_t largest_count) {
  for (std::size_t i = 0; i < how_many; ++i) {
    random_stream random(derive(run_seed(), i));
    const world_case world = random_world(random, sanitized ? 5 : 9);
    const conduct how = random_conduct(random);
    simulated in = simulate(world);
    in.options.seed = random.next();
    in.options.shuffle = random.one_in(2);
    in.model.jitter = random.one_in(2) ? 0.5 : 0;
    const auto all = random_calls(random.next(), world.ranks, calls, largest_count);
    const std::string wrong = run_simulated(in, all, how);
    CHECK_MESSAGE(wrong.empty(), "world ", i, ", ", describe(world), ", ", how.in_flight,
                  " in flight, ", wrong);
  }
}

TEST_CASE("many short operations in flight") {
  check_random_worlds(rounds(150, 15), rounds(150, 80), 40);
}

TEST_CASE("operations of all lengths in flight") {
  check_random_worlds(rounds(100, 15), rounds(40, 25), 5000);
}

TEST_CASE("long operations in flight") { check_random_worlds(rounds(20, 3), 12, 60000); }

TEST_CASE("more operations in flight than there are lanes, by all algorithms") {
  constexpr std::size_t ranks[] = {4, 9};
  std::uint64_t number = 0;
  for (const world_case& world : worlds(std::span(ranks).first(sanitized ? 1 : 2))) {
    simulated in = simulate(world);
    in.options.seed = derive(run_seed(), number++);
    in.options.shuffle = true;
    in.model.jitter = 0.5;
    in.model.cluster.cores_a_node = number % 3 == 0 ? 2 : world.ranks;
    const crowd all = random_crowd(in.options.seed, world.ranks);
    const std::string wrong = run_simulated(in, all.calls, all.how);
    CHECK_MESSAGE(wrong.empty(), describe(world), "; ", wrong);
  }
}

// ---- what this machine does not have

void check_case(const simulated& in, std::span<const spec> calls, std::string_view what) {
  const conduct how{.in_flight = 6, .unpunctual = true, .seed = run_seed()};
  const std::string wrong = run_simulated(in, calls, how);
  CHECK_MESSAGE(wrong.empty(), what, "; ", wrong);
}

TEST_CASE("many ranks") {
  struct many {
    std::size_t ranks;
    layout nodes;
    std::size_t largest;
  };
  constexpr many plain[] = {{64, layout::even, 3000},
                            {64, layout::scattered, 300},
                            {64, layout::node_each, 300},
                            {200, layout::uneven, 60},
                            {200, layout::one_node, 60}};
  for (const many& each : std::span(plain).first(sanitized ? 1 : std::size(plain))) {
    const simulated in = simulate({each.ranks, each.nodes, movement::staged});
    check_case(in, random_calls(run_seed(), each.ranks, rounds(20, 6), each.largest), "many ranks");
  }
}

// A piece of a block in a segment is a few lines.
TEST_CASE("a node of as many ranks as there can be") {
  if constexpr (sanitized) return;
  const simulated in = simulate({most_ranks_a_node, layout::one_node, movement::staged});
  std::vector<spec> calls;
  for (const collective what :
       {collective::scatter, collective::gather, collective::scatterv, collective::gatherv}) {
    calls.push_back({what, datatype::byte, reduction::none, 1500, 700});
  }
  calls.push_back({collective::alltoallv, datatype::byte, reduction::none, 1});
  give_seeds(calls, run_seed());
  const std::string wrong = run_simulated(in, calls, {.in_flight = 2});
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("ranks that share cores") {
  for (const std::size_t cores : {1, 2, 3}) {
    for (const layout nodes : layouts) {
      simulated in = simulate({9, nodes, movement::staged});
      in.model.cluster.cores_a_node = cores;
      check_case(in, random_calls(run_seed(), 9, rounds(40, 15), 3000), "shared cores");
    }
  }
}

TEST_CASE("messages and flags that are late, and messages that come twice") {
  for (std::uint64_t round = 0; round < rounds(6, 2); ++round) {
    for (const layout nodes : layouts) {
      simulated in = simulate({8, nodes, movement::staged});
      in.options.seed = derive(run_seed(), round);
      in.options.shuffle = true;
      in.model.jitter = 1;
      in.options.faults.delayed = 0.2;
      in.options.faults.longest_delay_ns = 50'000;
      in.options.faults.repeated = 0.2;
      check_case(in, random_calls(in.options.seed, 8, rounds(40, 15), 20000), "disturbed");
    }
  }
}

TEST_CASE("two rails, with messages divided over both, and who moves the data") {
  using mover = sim::model::mover;
  for (const mover by : {mover::core, mover::nic, mover::both}) {
    simulated in = simulate({9, layout::uneven, movement::staged});
    in.model.network.rails = 2;
    in.model.network.stripe_from_bytes = 4096;
    in.model.network.moved_by = by;
    in.model.network.core_push_to_bytes = 512;
    in.model.network.copy_to_bytes = 256;
    in.model.network.queue_pairs_cached = 4;
    in.model.network.queue_pair_miss_ns = 700;
    in.options.faults.repeated = 0.1;
    check_case(in, random_calls(run_seed(), 9, rounds(60, 20), 20000), "rails");
  }
}

TEST_CASE("a thousand operations in flight") {
  constexpr std::size_t thousand = 1000;
  for (const layout nodes : {layout::one_node, layout::uneven}) {
    const conduct how = {.in_flight = thousand, .unpunctual = true, .seed = run_seed()};
    const std::string wrong =
        run_simulated({4, nodes, movement::lent}, random_calls(run_seed(), 4, thousand, 100), how);
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

}  // namespace
}  // namespace muster::testing
