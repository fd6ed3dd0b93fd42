#include "tools/conformance/sweep.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include <muster/environment/environment.hpp>

#include "algos/catalog.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {

std::string_view name(layout nodes) {
  constexpr std::array<std::string_view, 5> names = {"one node", "even nodes", "uneven nodes",
                                                     "scattered nodes", "a node each"};
  return names[static_cast<std::size_t>(nodes)];
}

std::string_view name(movement data) {
  constexpr std::array<std::string_view, 4> names = {"lent", "staged", "foreign",
                                                     "staged, nodes joined by TCP"};
  return names[static_cast<std::size_t>(data)];
}

namespace {

/// 0, 1, 1, 2, 2, 2, 3 …: node k has k + 1 ranks.
std::vector<std::size_t> growing_nodes(std::size_t ranks) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; nodes.size() < ranks; ++node) {
    nodes.insert(nodes.end(), std::min(node + 1, ranks - nodes.size()), node);
  }
  return nodes;
}

std::size_t node_at(layout nodes, std::size_t rank, std::size_t ranks) {
  switch (nodes) {
    case layout::even:
      return rank * (ranks < 8 ? 2 : 4) / ranks;
    case layout::scattered:
      return (rank * rank + 1) % 3;
    case layout::node_each:
      return rank;
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::size_t> node_of(layout nodes, std::size_t ranks) {
  if (nodes == layout::uneven) return growing_nodes(ranks);
  std::vector<std::size_t> result;
  for (std::size_t rank = 0; rank < ranks; ++rank) result.push_back(node_at(nodes, rank, ranks));
  return result;
}

std::string describe(const world_case& world) {
  return std::to_string(world.ranks) + " ranks, " + std::string(name(world.nodes)) + ", data " +
         std::string(name(world.data));
}

thread_options options_for(const world_case& world) {
  thread_options options;
  options.node_of = node_of(world.nodes, world.ranks);
  options.share_address_space = world.data == movement::lent;
  if (world.data == movement::staged) options.foreign_from = machine::never;
  if (world.data == movement::tcp) options.network = between_nodes::tcp;
  if (world.data == movement::foreign) options.foreign_from = 16384;
  return options;
}

std::span<const std::size_t> rank_counts() {
  static constexpr std::size_t all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17};
  static constexpr std::size_t few[] = {1, 2, 3, 5, 8};
  if (sanitized) return few;
  return all;
}

std::vector<world_case> worlds(std::span<const std::size_t> ranks, std::span<const layout> nodes,
                               std::span<const movement> data) {
  std::vector<world_case> result;
  for (const std::size_t count : ranks) {
    std::set<std::vector<std::size_t>> seen;
    for (const layout each : nodes) {
      if (!seen.insert(node_of(each, count)).second) continue;
      for (const movement how : data) result.push_back({count, each, how});
    }
  }
  return result;
}

std::vector<world_case> worlds_in_turn(std::span<const std::size_t> ranks, std::uint64_t turn,
                                       std::span<const layout> nodes) {
  std::vector<world_case> result = worlds(ranks, nodes, std::span(movements).first(1));
  for (world_case& each : result) each.data = movements[turn++ % std::size(movements)];
  return result;
}

world_case random_world(random_stream& random, std::size_t largest) {
  world_case world;
  world.ranks = 1 + random.below(largest);
  world.nodes = layouts[random.below(std::size(layouts))];
  world.data = movements[random.below(std::size(movements))];
  return world;
}

namespace {

std::vector<std::size_t> roots(std::size_t ranks, std::size_t count) {
  std::set<std::size_t> chosen = {0, ranks - 1, ranks / 2};
  constexpr std::size_t all_roots_up_to = 64;
  for (std::size_t root = 0; count <= all_roots_up_to && root < ranks; ++root) chosen.insert(root);
  return {chosen.begin(), chosen.end()};
}

bool has_in_place(collective what) {
  return what != collective::barrier && what != collective::bcast;
}

/// Of those whose ranks have a block for each, or of each: all but the oldest of these take their
/// count for all blocks together, so that long ones are not too long for many ranks.
bool is_blockwise(collective what) {
  return what >= collective::scatter && what != collective::scan && what != collective::exscan;
}
std::size_t shared_out(std::size_t count, std::size_t ranks) {
  constexpr std::size_t few = 64;
  return count <= few ? count : std::max(few, count / ranks);
}

/// With and without in place, with every root that matters.
void append_forms(std::vector<spec>& calls, spec call, std::size_t ranks) {
  for (const bool in_place : {false, true}) {
    call.in_place = in_place;
    if (in_place && !has_in_place(call.what)) return;
    if (!has_root(call.what)) {
      calls.push_back(call);
      continue;
    }
    for (const std::size_t root : roots(ranks, call.count)) {
      call.root = root;
      calls.push_back(call);
    }
  }
}

}  // namespace

void append_every_collective(std::vector<spec>& calls, std::size_t ranks, std::size_t count,
                             datatype moved, datatype reduced, reduction op) {
  for (std::size_t i = 0; i < collectives_of_all; ++i) {
    spec call;
    call.what = static_cast<collective>(i);
    if (call.what != collective::barrier) {
      const bool reduces = has_op(call.what);
      call.type = reduces ? reduced : moved;
      call.op = reduces ? op : reduction::none;
      call.count = is_blockwise(call.what) ? shared_out(count, ranks) : count;
    }
    append_forms(calls, call, ranks);
  }
}

std::vector<spec> all_calls(std::size_t ranks, std::span<const std::size_t> counts,
                            datatype reduced, reduction op) {
  std::vector<spec> calls;
  for (const std::size_t count : counts) {
    append_every_collective(calls, ranks, count, datatype::byte, reduced, op);
  }
  give_seeds(calls, run_seed());
  return calls;
}

namespace {

bool suits(const algorithm& row, const team& of, const spec& call) {
  const placement sends = sent(call, of.size(), of.rank());
  const placement receives = received(call, of.size(), of.rank());
  const block_layout send_blocks = sends.complete();
  const block_layout receive_blocks = receives.complete();
  arguments bare = bare_arguments(call, of.rank());
  if (has_send_layout(bare, of.rank())) bare.send_blocks = &send_blocks;
  if (has_receive_layout(bare, of.rank())) bare.receive_blocks = &receive_blocks;
  return row.suits(of.shape(), of.machine(), bare);
}

/// Some in arrival order, some of a program's own, since not every row takes all of them.
void vary_reduction(spec& call, std::size_t i) {
  if (!has_op(call.what)) return;
  if (i % 3 == 1) call.order = combining::by_arrival;
  if (i % 5 != 2) return;
  call.type = datatype::custom;
  call.op = reduction::custom;
  call.own = own_reductions[i % std::size(own_reductions)];
}

}  // namespace

std::vector<spec> calls_for(const algorithm& row, const team& of) {
  std::vector<spec> all;
  for (const std::size_t count : {0, 1, 3, 48, 500, 8192, 40000}) {
    append_every_collective(all, of.size(), count, datatype::byte, datatype::float32, sum);
    // Of integers an algorithm may make something else.
    all.push_back({collective::allreduce, datatype::int32, sum, count});
    all.push_back({collective::reduce, datatype::int32, sum, count, of.size() / 2});
  }
  for (std::size_t i = 0; i < all.size(); ++i) vary_reduction(all[i], i);
  give_seeds(all, derive(run_seed(), static_cast<std::size_t>(row.what)));
  std::erase_if(all,
                [&](const spec& call) { return call.what != row.what || !suits(row, of, call); });
  return all;
}

std::vector<algorithm> tested_rows() {
  const catalog rows = algos::catalog();
  const char* const named = environment::read(environment::test_rows);
  std::vector<algorithm> result;
  std::ranges::copy_if(rows, std::back_inserter(result), [&](const algorithm& row) {
    if (has_neighbors(row.what)) return false;
    const std::string all = std::string(name(row.what)) + ":";
    if (named == nullptr) return true;
    std::istringstream words(named);
    return std::any_of(std::istream_iterator<std::string>(words), {}, [&](const std::string& word) {
      return word == all || word == all + std::string(row.id);
    });
  });
  return result;
}

std::vector<std::string> choices_of(const algorithm& row) {
  const std::string id(row.id);
  if (row.has_ports && row.has_groups) return {id + ":ports=1,groups=2", id + ":ports=3,groups=3"};
  if (row.has_ports) return {id + ":ports=1", id + ":ports=3"};
  if (row.has_groups) return {id, id + ":groups=2"};
  return {id};
}

namespace {

/// A type, and one of the reductions that it has.
void choose_reduction(random_stream& random, spec& call) {
  if (random.one_in(6)) {
    call.type = datatype::custom;
    call.op = reduction::custom;
    call.own = own_reductions[random.below(std::size(own_reductions))];
  }
  while (!supports(call.op, call.type)) {
    call.op = static_cast<reduction>(1 + random.below(reductions - 1));
  }
  if (random.one_in(3)) call.order = combining::by_arrival;
}

}  // namespace

spec random_call(std::uint64_t seed, std::size_t ranks, std::size_t largest_count) {
  random_stream random(seed);
  spec call;
  call.what = static_cast<collective>(random.below(collectives_of_all));
  call.type = static_cast<datatype>(random.below(datatypes - 1));
  if (has_op(call.what)) choose_reduction(random, call);
  if (has_root(call.what)) call.root = random.below(ranks);
  constexpr std::size_t usual_element = 8;
  const std::size_t most = largest_count * usual_element / std::max(usual_element, call.element());
  // As often short as long.
  const std::size_t bound = random.one_in(2) ? std::min<std::size_t>(most, 32) : most;
  call.count = call.what == collective::barrier ? 0 : random.below(bound + 1);
  call.in_place = random.one_in(2) && has_in_place(call.what);
  call.seed = random.next();
  return call;
}

std::vector<spec> random_calls(std::uint64_t seed, std::size_t ranks, std::size_t how_many,
                               std::size_t largest_count) {
  std::vector<spec> calls;
  for (std::size_t i = 0; i < how_many; ++i) {
    calls.push_back(random_call(derive(seed, i), ranks, largest_count));
  }
  return calls;
}

void choose_algorithms(std::vector<spec>& calls, const team& of, std::uint64_t seed) {
  random_stream random(seed);
  for (spec& call : calls) {
    std::vector<std::string> choices;
    for (const algorithm& row : algos::catalog()) {
      if (row.what != call.what || !suits(row, of, call)) continue;
      for (std::string& choice : choices_of(row)) choices.push_back(std::move(choice));
    }
    call.by = choices[random.below(choices.size())];
  }
}

void give_seeds(std::vector<spec>& calls, std::uint64_t seed) {
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i].seed = derive(seed, i);
}

conduct random_conduct(random_stream& random) {
  conduct how;
  how.in_flight = 1 + random.below(random.one_in(3) ? 2 * wire::lanes : 10);
  how.unpunctual = !random.one_in(4);
  how.together = random.one_in(4);
  how.buffers = static_cast<memory>(random.below(3));
  how.seed = random.next();
  return how;
}

namespace {

bool only_root_receives(collective what) {
  using enum collective;
  return what == reduce || what == gather || what == gatherv;
}

}  // namespace

crowd random_crowd(std::uint64_t seed, std::size_t ranks) {
  constexpr std::size_t largest_count = 2000;
  constexpr std::size_t in_flight = 3 * wire::lanes;
  random_stream random(seed);
  crowd result;
  result.how = {.in_flight = in_flight,
                .unpunctual = true,
                .together = random.one_in(2),
                .seed = seed,
                .any_algorithm = true};
  const bool to_one_root = random.one_in(2);
  const std::size_t root = random.below(ranks);
  while (result.calls.size() < 2 * in_flight) {
    spec call = random_call(random.next(), ranks, largest_count);
    if (to_one_root && !only_root_receives(call.what)) continue;
    if (to_one_root) call.root = root;
    result.calls.push_back(call);
  }
  return result;
}

task<> come_late(random_stream& random) {
  switch (random.below(8)) {
    case 0:
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
      break;
    case 1:
    case 2:
      std::this_thread::yield();
      break;
    default:
      break;
  }
  co_return;
}

namespace {

/// What calls are made with, on one rank.
struct sweep_environment {
  team& of;
  const conduct& how;
  findings& found;
  const lateness& pause;
  random_stream random;

  task<> maybe_pause() {
    if (how.unpunctual) co_await pause(random);
  }
};

/// Some calls that are in flight together.
class batch {
public:
  batch(sweep_environment& with, std::span<const spec> calls)
      : with_(with), calls_(calls), completed_(calls.size()) {
    for (const spec& each : calls) {
      // One in four buffers is not aligned to anything.
      const std::size_t shift = with.random.one_in(4) ? 1 + with.random.below(15) : 0;
      checked_.push_back(std::make_unique<checked_call>(with.of, each, with.how.buffers, shift));
      plans_.emplace_back();
      // The others need not know of it.
      const bool planned = with.how.runs > 1 && !with.random.one_in(4);
      if (planned) plans_.back().emplace(checked_.back()->perform());
    }
  }

  /// Returns when none is in flight any more.
  task<> run() {
    if (with_.how.together) {
      co_await run_together();
    } else if (checked_.size() == 1) {
      co_await with_.maybe_pause();
      co_await perform(0);
    } else {
      co_await run_apart();
    }
  }

  void refill() {
    for (const auto& each : checked_) each->refill();
    completed_.assign(calls_.size(), false);
  }

  void check() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const std::string wrong = checked_[i]->verdict(completed_[i]);
      if (wrong.empty()) continue;
      with_.found.add("rank " + std::to_string(with_.of.rank()) + " of " +
                      std::to_string(with_.of.size()) + ", " + describe(calls_[i]) + ": " + wrong);
    }
  }

private:
  task<> call(std::size_t i) { return plans_[i] ? plans_[i]->run() : checked_[i]->perform(); }

  task<> perform(std::size_t i) {
    if (with_.how.limit) {
      co_await with_timeout(*with_.how.limit, call(i));
    } else {
      co_await call(i);
    }
    completed_[i] = true;
  }

  task<> run_together() {
    std::vector<task<>> all;
    for (std::size_t i = 0; i < checked_.size(); ++i) all.push_back(perform(i));
    co_await when_all(std::move(all));
  }

  task<> run_apart() {
    std::vector<future<>> running;
    std::exception_ptr failure;
    try {
      for (std::size_t i = 0; i < checked_.size(); ++i) {
        co_await with_.maybe_pause();
        running.push_back(start(with_.of.engine(), perform(i)));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    while (!running.empty()) {
      try {
        co_await end_one(running);
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

  /// Waits for one of them and takes it out, in any case.
  task<> end_one(std::vector<future<>>& running) {
    const bool in_order = !with_.how.unpunctual;
    const std::size_t next = in_order ? 0 : with_.random.below(running.size());
    future<> one = std::move(running[next]);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(next));
    co_await with_.maybe_pause();
    co_await one;
  }

  sweep_environment& with_;
  std::span<const spec> calls_;
  std::vector<std::unique_ptr<checked_call>> checked_;
  std::vector<std::optional<plan>> plans_;
  std::vector<bool> completed_;
};

/// Runs them and checks what came of it, also where they fail.
task<> run_and_check(batch& calls) {
  std::exception_ptr failure;
  try {
    co_await calls.run();
  } catch (...) {
    failure = std::current_exception();
  }
  calls.check();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

task<> make_calls(team& of, std::span<const spec> calls, const conduct& how, findings& found,
                  const lateness& pause) {
  std::vector<spec> by_any(calls.begin(), how.any_algorithm ? calls.end() : calls.begin());
  if (how.any_algorithm) {
    choose_algorithms(by_any, of, how.seed);
    calls = by_any;
  }
  sweep_environment with{of, how, found, pause, random_stream(derive(how.seed, of.rank()))};
  while (!calls.empty()) {
    const std::size_t now = std::min(how.in_flight, calls.size());
    batch next(with, calls.first(now));
    for (std::size_t run = 0; run < how.runs; ++run) {
      if (run > 0) next.refill();
      co_await run_and_check(next);
    }
    calls = calls.subspan(now);
  }
}

void make_calls(team& of, std::span<const spec> calls, const conduct& how, findings& found) {
  const lateness pause = come_late;
  start(of.engine(), make_calls(of, calls, how, found, pause)).wait();
}

std::string run_world(const world_case& world, std::span<const spec> calls, const conduct& how) {
  const watchdog alive(describe(world));
  findings found;
  try {
    run_threads(
        world.ranks, [&](team& of) { make_calls(of, calls, how, found); }, options_for(world));
  } catch (const std::exception& why) {
    found.add(std::string("exception: ") + why.what());
  }
  const std::string wrong = found.take();
  return wrong.empty() ? wrong : describe(world) + "; " + how_to_replay() + "\n" + wrong;
}

}  // namespace muster::testing
