#include "tools/conformance/neighbors.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "tools/conformance/random.hpp"
#include "tools/conformance/shuffle.hpp"

namespace muster::testing {
namespace {

constexpr std::byte guard{0xa5};

/// One call, as all ranks know it.
struct neighbor_call {
  collective what = collective::neighbor_alltoall;
  graph with;
  std::optional<grid> on;  ///< that the graph is of
  std::uint64_t seed = 0;
  std::size_t length = 0;

  bool varies() const {
    return what == collective::neighbor_allgatherv || what == collective::neighbor_alltoallv;
  }
  bool gathers() const {
    return what == collective::neighbor_allgather || what == collective::neighbor_allgatherv;
  }
  /// Which block it really is: one goes to all.
  std::uint64_t key(graph::origin from) const {
    return derive(derive(seed, from.rank), gathers() ? 0 : from.block);
  }
  std::size_t length_of(graph::origin from) const {
    if (!varies()) return length;
    random_stream random(~key(from));
    if (random.one_in(4)) return 0;
    return random.one_in(2) ? length : random.below(length + 1);
  }
  void write(graph::origin from, std::span<std::byte> to) const {
    random_stream random(key(from));
    for (std::byte& each : to) each = static_cast<std::byte>(random.next());
  }
};

neighbor_call random_neighbor_call(std::uint64_t seed, std::size_t ranks, std::size_t largest) {
  constexpr collective kinds[] = {collective::neighbor_allgather, collective::neighbor_alltoall,
                                  collective::neighbor_allgatherv, collective::neighbor_alltoallv};
  random_stream random(seed);
  neighbor_call call;
  call.what = kinds[random.below(std::size(kinds))];
  if (random.one_in(2)) {
    call.on = random_grid(random.next(), ranks);
    call.with = graph_of(*call.on);
  } else {
    call.with = random_graph(random.next(), ranks);
  }
  call.seed = random.next();
  call.length = random.below((random.one_in(2) ? std::min<std::size_t>(largest, 40) : largest) + 1);
  return call;
}

/// Blocks one after the other, in some order, with gaps: a buffer and its layout.
struct side {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;
  std::vector<std::byte> bytes;

  void lay_out(random_stream& random, bool spread) {
    displacements.resize(counts.size());
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (spread) shuffle(order, random);
    std::size_t end = 0;
    for (const std::size_t i : order) {
      if (spread) end += random.below(20);
      displacements[i] = end;
      end += counts[i];
    }
    bytes.assign(end, guard);
  }
  std::span<std::byte> block(std::size_t i) {
    return std::span(bytes).subspan(displacements[i], counts[i]);
  }
  block_layout layout() const { return {counts, displacements}; }
};

/// A rank's buffers for a call, and what should be in them.
class checked_neighbors {
public:
  checked_neighbors(team& of, neighbor_call call)
      : team_(of), call_(std::move(call)), random_(derive(call_.seed, of.rank())) {
    if (call_.on) grid_.emplace(of, call_.on->dims, call_.on->periodic);
    const graph::node& mine = call_.with.nodes[of.rank()];
    const std::size_t sent = call_.gathers() ? 1 : mine.destinations.size();
    for (std::size_t i = 0; i < sent; ++i) {
      const bool is_one = call_.gathers() || mine.destinations[i] != no_rank;
      send_.counts.push_back(is_one ? call_.length_of({of.rank(), i}) : call_.length);
    }
    send_.lay_out(random_, call_.what == collective::neighbor_alltoallv);
    for (std::size_t i = 0; i < sent; ++i) call_.write({of.rank(), i}, send_.block(i));
    for (const graph::origin& from : mine.arriving) {
      receive_.counts.push_back(from.rank == no_rank ? call_.length : call_.length_of(from));
    }
    receive_.lay_out(random_, call_.varies());
    expected_ = receive_;
    for (std::size_t i = 0; i < mine.arriving.size(); ++i) {
      if (mine.arriving[i].rank != no_rank) call_.write(mine.arriving[i], expected_.block(i));
    }
    sent_ = send_.bytes;
  }

  task<> perform() {
    const neighborhood with = grid_ ? grid_->neighbors() : call_.with.of(team_.rank());
    switch (call_.what) {
      case collective::neighbor_allgather:
        return neighbor_allgather(team_, send_.bytes, receive_.bytes, with);
      case collective::neighbor_alltoall:
        return neighbor_alltoall(team_, send_.bytes, receive_.bytes, with);
      case collective::neighbor_allgatherv:
        return neighbor_allgatherv(team_, send_.bytes, receive_.bytes, receive_.layout(), with);
      default:
        return neighbor_alltoallv(team_, send_.bytes, send_.layout(), receive_.bytes,
                                  receive_.layout(), with);
    }
  }
  void clear() { std::ranges::fill(receive_.bytes, guard); }

  void check(findings& found) const {
    if (receive_.bytes == expected_.bytes && send_.bytes == sent_) return;
    std::size_t at = 0;
    while (at < receive_.bytes.size() && receive_.bytes[at] == expected_.bytes[at]) ++at;
    found.add("rank " + std::to_string(team_.rank()) + " of " + std::to_string(team_.size()) +
              ", " + std::string(name(call_.what)) + (call_.on ? " on a grid" : "") + ", up to " +
              std::to_string(call_.length) + " bytes: " +
              (at == receive_.bytes.size() ? std::string("what was sent was changed")
                                           : "byte " + std::to_string(at) + " is wrong"));
  }

private:
  team& team_;
  neighbor_call call_;
  random_stream random_;
  std::optional<cartesian> grid_;
  side send_;
  side receive_;
  side expected_;
  std::vector<std::byte> sent_;
};

task<> run_one(checked_neighbors& one, plan* again, findings& found) {
  if (again == nullptr) {
    co_await one.perform();
    one.check(found);
    co_return;
  }
  for (int run = 0; run < 2; ++run) {
    one.clear();
    co_await again->run();
    one.check(found);
  }
}

/// Some that are in flight together.
task<> make_batch(team& of, const neighbor_calls& what, std::size_t first, std::size_t count,
                  random_stream& random, findings& found, const lateness& pause) {
  std::vector<std::unique_ptr<checked_neighbors>> all;
  std::vector<std::optional<plan>> plans(count);
  for (std::size_t i = 0; i < count; ++i) {
    neighbor_call call =
        random_neighbor_call(derive(what.seed, first + i), of.size(), what.largest);
    all.push_back(std::make_unique<checked_neighbors>(of, std::move(call)));
  }
  // A plan runs twice, one after the other: on all ranks, or they would not call the same.
  const bool planned = count == 1 && random_stream(derive(~what.seed, first)).one_in(2);
  if (planned) plans[0].emplace(all[0]->perform());
  std::vector<future<>> running;
  for (std::size_t i = 0; i < count; ++i) {
    if (what.unpunctual) co_await pause(random);
    plan* const again = plans[i] ? &*plans[i] : nullptr;
    running.push_back(start(of.engine(), run_one(*all[i], again, found)));
  }
  shuffle(running, random);
  for (future<>& each : running) {
    if (what.unpunctual) co_await pause(random);
    co_await each;
  }
}

}  // namespace

task<> make_neighbor_calls(team& of, const neighbor_calls& what, findings& found,
                           const lateness& pause) {
  random_stream random(derive(what.seed, of.rank()));
  for (std::size_t first = 0; first < what.calls; first += what.in_flight) {
    const std::size_t count = std::min(what.in_flight, what.calls - first);
    co_await make_batch(of, what, first, count, random, found, pause);
    // Others among them: they go by other lanes and their own order.
    if (first % 3 == 0) co_await barrier(of);
  }
}

}  // namespace muster::testing
