#include "tests/conformance/sweep.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "tests/harness/build.hpp"
#include "tests/harness/random.hpp"
#include "tests/harness/watchdog.hpp"

namespace muster::testing {

std::string_view name(layout nodes) {
  constexpr std::array<std::string_view, 5> names = {"one node", "even nodes", "uneven nodes",
                                                     "scattered nodes", "a node each"};
  return names[static_cast<std::size_t>(nodes)];
}

std::string_view name(movement data) {
  constexpr std::array<std::string_view, 3> names = {"lent", "staged", "foreign"};
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

namespace {

std::vector<std::size_t> roots(std::size_t ranks, std::size_t count) {
  std::set<std::size_t> chosen = {0, ranks - 1, ranks / 2};
  constexpr std::size_t all_roots_up_to = 64;
  for (std::size_t root = 0; count <= all_roots_up_to && root < ranks; ++root) chosen.insert(root);
  return {chosen.begin(), chosen.end()};
}

}  // namespace

void append_every_collective(std::vector<spec>& calls, std::size_t ranks, std::size_t count,
                             datatype moved, datatype reduced, reduction op) {
  calls.push_back({});
  for (const bool in_place : {false, true}) {
    calls.push_back({collective::allgather, moved, reduction::none, count, 0, in_place});
    calls.push_back({collective::alltoall, moved, reduction::none, count, 0, in_place});
    calls.push_back({collective::allreduce, reduced, op, count, 0, in_place});
    for (const std::size_t root : roots(ranks, count)) {
      calls.push_back({collective::reduce, reduced, op, count, root, in_place});
      if (!in_place) calls.push_back({collective::bcast, moved, reduction::none, count, root});
    }
  }
}

spec random_call(std::uint64_t seed, std::size_t ranks, std::size_t largest_count) {
  random_stream random(seed);
  spec call;
  call.what = static_cast<collective>(random.below(collectives));
  const bool reduces = call.what == collective::reduce || call.what == collective::allreduce;
  call.type = static_cast<datatype>(random.below(11));
  if (reduces) call.op = static_cast<reduction>(1 + random.below(4));
  if (call.what == collective::bcast || call.what == collective::reduce) {
    call.root = random.below(ranks);
  }
  // As often short as long.
  const std::size_t bound =
      random.one_in(2) ? std::min<std::size_t>(largest_count, 32) : largest_count;
  call.count = call.what == collective::barrier ? 0 : random.below(bound + 1);
  call.in_place = random.one_in(2) && call.what != collective::bcast;
  call.seed = random.next();
  return call;
}

void give_seeds(std::vector<spec>& calls, std::uint64_t seed) {
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i].seed = derive(seed, i);
}

namespace {

void come_late(random_stream& random) {
  switch (random.below(8)) {
    case 0:
      return std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
    case 1:
    case 2:
      return std::this_thread::yield();
    default:
      return;
  }
}

/// Some calls that are in flight together.
class batch {
public:
  batch(team& of, std::span<const spec> calls, const conduct& how, random_stream& random)
      : team_(of), calls_(calls), how_(how), random_(random) {
    for (const spec& each : calls) {
      // One in four buffers is not aligned to anything.
      const std::size_t shift = random.one_in(4) ? 1 + random.below(15) : 0;
      checked_.push_back(std::make_unique<checked_call>(of, each, how.buffers, shift));
    }
  }

  void run() {
    if (how_.together) {
      run_together();
    } else {
      run_apart();
    }
  }

  void check(findings& found) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const std::string wrong = checked_[i]->verdict();
      if (wrong.empty()) continue;
      found.add("rank " + std::to_string(team_.rank()) + " of " + std::to_string(team_.size()) +
                ", " + describe(calls_[i]) + ": " + wrong);
    }
  }

private:
  void run_together() {
    std::vector<task<>> all;
    for (auto& each : checked_) all.push_back(each->perform());
    start(team_.engine(), when_all(std::move(all))).wait();
  }

  void run_apart() {
    std::vector<future<>> running;
    for (auto& each : checked_) {
      if (how_.unpunctual) come_late(random_);
      running.push_back(start(each->perform()));
    }
    while (!running.empty()) {
      const std::size_t next = how_.unpunctual ? random_.below(running.size()) : 0;
      if (how_.unpunctual) come_late(random_);
      running[next].wait();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  team& team_;
  std::span<const spec> calls_;
  const conduct& how_;
  random_stream& random_;
  std::vector<std::unique_ptr<checked_call>> checked_;
};

}  // namespace

void make_calls(team& of, std::span<const spec> calls, const conduct& how, findings& found) {
  random_stream random(derive(how.seed, of.rank()));
  while (!calls.empty()) {
    const std::size_t now = std::min(how.in_flight, calls.size());
    batch next(of, calls.first(now), how, random);
    next.run();
    next.check(found);
    calls = calls.subspan(now);
  }
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
