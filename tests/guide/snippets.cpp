// The guide's fragments: each stands between `// [name]` and `// [name end]`, and what it comes to
// is required behind it. Run by 4 ranks.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/api/cartesian.hpp>
#include <muster/api/neighbors.hpp>
#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;
using namespace std::chrono_literals;

namespace {

using muster::task;
using muster::team;

int ranks_of(const team& of) { return static_cast<int>(of.size()); }
int rank_of(const team& of) { return static_cast<int>(of.rank()); }

struct matrix {
  std::array<std::int64_t, 4> at = {1, 0, 0, 1};
  friend matrix operator*(const matrix& a, const matrix& b) {
    return {{a.at[0] * b.at[0] + a.at[1] * b.at[2], a.at[0] * b.at[1] + a.at[1] * b.at[3],
             a.at[2] * b.at[0] + a.at[3] * b.at[2], a.at[2] * b.at[1] + a.at[3] * b.at[3]}};
  }
};

task<> reduction_of_ones_own(muster::team& team) {
  const std::vector<matrix> mine = {{{1, 1, 0, 1}}};
  std::vector<matrix> product_so_far(1);
  // [reduction]
  const auto compose = muster::make_reduction<matrix>(
      [](const matrix& left, const matrix& right) { return left * right; },
      muster::commutative::no);
  co_await muster::scan(team, mine, product_so_far, compose);
  // [reduction end]
  require(product_so_far[0].at[1] == rank_of(team) + 1);
  static_assert(!std::constructible_from<muster::reducer, muster::custom_reduction>);
}

task<> owning_forms(muster::team& team) {
  const int mine = rank_of(team);
  std::vector<int> blocks(team.size(), mine);
  // [owning]
  double total = co_await muster::allreduce(team, 1.5, muster::sum);
  std::vector<int> ranks = co_await muster::allgather(team, mine);
  std::vector<int> received = co_await muster::alltoall(team, std::move(blocks));
  // [owning end]
  require(total == 1.5 * ranks_of(team));
  require(ranks.back() == ranks_of(team) - 1);
  require(received == ranks);
}

task<> on_a_grid(muster::team& team) {
  std::vector<int> send(4, rank_of(team));
  std::vector<int> receive(4, -1);
  // [grid]
  const muster::cartesian grid(team, {2, 2}, {true, false});  // the first dimension periodic
  co_await muster::neighbor_alltoall(team, send, receive, grid);
  // [grid end]
  const int across = (rank_of(team) + 2) % 4;
  require(receive[0] == across && receive[1] == across);
  const bool is_first = rank_of(team) % 2 == 0;
  require(receive[2] == (is_first ? -1 : rank_of(team) - 1));
  require(receive[3] == (is_first ? rank_of(team) + 1 : -1));
}

task<> on_a_graph(muster::team& team) {
  const std::size_t next = (team.rank() + 1) % team.size();
  const std::size_t before = (team.rank() + team.size() - 1) % team.size();
  const int mine = 10 * rank_of(team);
  const std::vector<int> send = {mine, mine + 1, mine + 2};
  std::vector<int> receive(3);
  // [graph]
  const std::vector<std::size_t> sources = {before, before, next};
  const std::vector<std::size_t> destinations = {next, next, before};
  const muster::neighborhood ring{.sources = sources, .destinations = destinations};
  co_await muster::neighbor_alltoall(team, send, receive, ring);
  // [graph end]
  const int left = 10 * static_cast<int>(before);
  require(receive == std::vector<int>{left, left + 1, 10 * static_cast<int>(next) + 2});
}

task<> awaiting(muster::team& team) {
  std::vector<double> x(100, 1.0);
  std::vector<int> y(team.size(), rank_of(team));
  std::vector<int> z(team.size());
  const std::vector<int> u = {rank_of(team)};
  std::vector<int> v(team.size());
  // [awaiting]
  co_await muster::allreduce(team, x, muster::sum);  // one after another

  auto a = muster::start(muster::allreduce(team, x, muster::sum));  // begins now
  auto b = muster::start(muster::alltoall(team, y, z));             // both in flight
  co_await b;
  co_await a;

  co_await muster::when_all(muster::allreduce(team, x, muster::sum), muster::allgather(team, u, v));
  // [awaiting end]
  require(x[0] == static_cast<double>(team.size() * team.size() * team.size()));
  require(z == v);
}

task<> detaching(muster::team& team) {
  // [detach]
  std::vector<double> statistics(100, 1.0);
  auto sum = muster::start(muster::allreduce(team, statistics, muster::sum));
  std::move(sum).detach(std::move(statistics));  // runs on; the vector lives until its end
  // [detach end]
  require(!sum.valid());
  co_await muster::barrier(team);
}

task<> destroying(muster::team& team) {
  const std::unique_ptr<muster::team> copy = co_await muster::duplicate(team);
  {
    // [destroy]
    std::vector<double> data(100, 1.0);
    auto sum = muster::start(muster::allreduce(*copy, data, muster::sum));
    sum.request_stop();
    // `sum` is destroyed first: that waits for the operation's end, and then `data` may go.
    // [destroy end]
  }
  co_await muster::barrier(team);
}

task<> in_a_scope(muster::team& team) {
  std::vector<double> gradients(100, 1.0);
  std::vector<int> counts(team.size());
  // [scope]
  muster::scope all(team.engine());
  all.spawn(muster::allreduce(team, gradients, muster::sum));
  all.spawn(muster::barrier(team));
  co_await all.join();
  // [scope end]
  require(gradients[99] == ranks_of(team));
  require(all.size() == 0);
}

task<> with_limits(muster::team& team) {
  std::vector<double> data(10, 1.0);
  std::stop_source source;
  // [limits]
  co_await muster::with_timeout(10s, muster::allreduce(team, data, muster::sum));
  co_await muster::with_stop(source.get_token(), muster::barrier(team));
  // [limits end]
  require(data[0] == ranks_of(team));
}

task<> continued(muster::team& team) {
  // [then]
  auto sum = muster::start(muster::allreduce(team, 1.5, muster::sum));
  auto half = std::move(sum).then([](double total) { return total / 2; });
  const double value = co_await half;
  // [then end]
  require(value == 0.75 * ranks_of(team));
}

task<> planned(muster::team& team) {
  std::vector<int> send(team.size());
  std::vector<int> receive(team.size());
  const int steps = 3;
  const auto fill = [&](std::vector<int>& of) { of.assign(of.size(), of[0] + 1); };
  // [plan]
  muster::plan exchange(muster::alltoall(team, send, receive));  // any collective
  for (int step = 0; step < steps; ++step) {
    fill(send);
    co_await exchange.run();
  }
  // [plan end]
  require(receive == std::vector<int>(team.size(), steps));
}

// [receiver]
struct receiver {
  double* result;
  std::exception_ptr* failure;

  void set_value(double value) noexcept { *result = value; }
  void set_error(std::exception_ptr why) noexcept { *failure = std::move(why); }
  void set_stopped() noexcept {}
};
// [receiver end]

task<> as_a_sender(muster::team& team) {
  double result = 0;
  std::exception_ptr failure;
  // [sender]
  auto sender = muster::as_sender(muster::allreduce(team, 1.5, muster::sum));
  auto operation = std::move(sender).connect(receiver{&result, &failure});
  operation.start();
  // [sender end]
  // It takes its place in the order before this does.
  co_await muster::barrier(team);
  while (result == 0 && !failure) team.engine().poll();
  require(result == 1.5 * ranks_of(team));
}

task<> in_sequence(muster::team& team) {
  std::int64_t sum = 0;
  {
    // [sequencer]
    muster::sequencer order(team);  // on all ranks, in the same order as other sequencers
    const auto add = [&] { return muster::allreduce(team, std::int64_t{2}, muster::sum); };
    std::vector<std::uint64_t> keys = {7, 8, 9};
    if (team.rank() == 1) keys = {9, 7, 8};  // its requests came in another order
    std::vector<muster::future<std::int64_t>> calls;
    for (const std::uint64_t key : keys) calls.push_back(muster::start(order.run(key, add)));
    for (auto& each : calls) sum += co_await each;
    // [sequencer end]
    co_await muster::barrier(team);
  }
  require(sum == 3 * 2 * ranks_of(team));
}

task<> messages(muster::team& team) {
  // [messages]
  const std::uint64_t tag = 5;
  if (team.rank() == 0) {
    const std::vector<double> data = {1.5, 2.5};
    co_await team.send(1, tag, data);
  } else if (team.rank() == 1) {
    std::vector<double> data(100);
    const std::size_t came = co_await team.receive(0, tag, data);
    data.resize(came);  // 2 elements
    require(came == 2 && data[1] == 2.5);
  }
  // [messages end]
}

task<> sparse(muster::team& team) {
  // [sparse]
  const std::vector<int> data = {7, 8, 9};
  std::vector<muster::block_to<int>> blocks;
  if (team.rank() == 2) blocks.push_back({.rank = 0, .data = data});
  std::vector<muster::block_from<int>> received =
      co_await muster::sparse_alltoallv(team, std::move(blocks));
  if (team.rank() == 0) require(received.at(0).rank == 2 && received.at(0).data == data);
  // [sparse end]
  if (team.rank() != 0) require(received.empty());
}

task<> shrinking(muster::team& job) {
  std::unique_ptr<muster::team> team = co_await muster::duplicate(job);
  std::vector<double> data(100, 1.0);
  bool failed = false;
  if (job.rank() == 0) {  // a deadline breaks the team
    try {
      co_await muster::with_timeout(20ms, muster::barrier(*team));
    } catch (const muster::error&) {
      failed = true;
    }
  }
  const auto work = [&](muster::team& on) { return muster::allreduce(on, data, muster::sum); };
  if (job.rank() != 0) {
    // [shrink]
    try {
      co_await work(*team);
    } catch (const muster::error& why) {
      failed = true;
      std::fprintf(stderr, "%s\n", why.what());  // a deadline, or a rank that died
    }
    if (failed) team = co_await muster::shrink(*team);  // on all ranks that are alive
    // [shrink end]
  } else {
    team = co_await muster::shrink(*team);
  }
  require(failed && team->size() == job.size());
  data.assign(100, 1.0);
  co_await work(*team);
  require(data[99] == ranks_of(job));
}

task<> teams_from_teams(muster::team& team) {
  const std::size_t width = 2;
  const auto row_of = static_cast<int>(team.rank() / width);
  // [teams]
  std::unique_ptr<muster::team> row = co_await muster::split(team, row_of, 0);
  std::unique_ptr<muster::team> copy = co_await muster::duplicate(team);
  const std::vector<std::size_t> ranks = {3, 0, 2};
  std::unique_ptr<muster::team> some = co_await muster::subset(team, ranks);
  // [teams end]
  require(row->size() == width && copy->size() == team.size());
  require((some == nullptr) == (team.rank() == 1));
  if (team.rank() == 3) require(some->rank() == 0);
}

task<> chosen(muster::team& team) {
  const std::vector<int> send(team.size(), rank_of(team));
  std::vector<int> receive(team.size());
  const std::unique_ptr<muster::team> own = co_await muster::duplicate(team);
  {
    muster::team& team = *own;
    // [choose]
    team.choose(muster::collective::alltoall, "bruck:ports=2");  // for further calls of the team
    auto call = muster::alltoall(team, send, receive);
    co_await muster::by("pairwise", std::move(call));  // for one call
    // [choose end]
    co_await muster::alltoall(team, send, receive);
  }
  require(receive[2] == 2);
}

task<> errors(muster::team& team) {
  std::vector<double> data(10);
  std::optional<muster::errc> seen;
  // [errors]
  try {
    co_await muster::bcast(team, data, team.size());  // no such root
  } catch (const muster::error& why) {
    if (why.code() == muster::errc::invalid_argument) seen = muster::errc::invalid_argument;
    // why.what() names the call, the argument, and what was expected
  }
  // [errors end]
  require(seen.has_value());
  require(!team.failure());
}

task<> arrival_order(muster::team& team) {
  std::vector<double> data(10, 1.0);
  // [arrival]
  const auto any_order = muster::in_arrival_order(muster::sum);
  co_await muster::allreduce(team, data, any_order);
  // [arrival end]
  require(data[0] == ranks_of(team));
}

task<> shared(muster::team& team) {
  // [shared]
  muster::shared_buffer<double> data(team, 100'000);
  data[0] = 1.0;
  co_await muster::allreduce(team, data, muster::sum);
  // [shared end]
  require(data[0] == ranks_of(team));
}

task<> with_layouts(muster::team& team) {
  // Rank r sends r + 1 elements.
  const std::vector<int> send(team.rank() + 1, rank_of(team));
  // [layout]
  const std::vector<std::size_t> counts = {1, 2, 3, 4};
  std::vector<int> receive(10);
  const muster::block_layout blocks{.counts = counts};
  co_await muster::allgatherv(team, send, receive, blocks);
  // [layout end]
  require(receive == std::vector<int>{0, 1, 1, 2, 2, 2, 3, 3, 3, 3});
}

task<> all(muster::team& team) {
  require(team.size() == 4);
  co_await reduction_of_ones_own(team);
  co_await owning_forms(team);
  co_await on_a_grid(team);
  co_await on_a_graph(team);
  co_await awaiting(team);
  co_await detaching(team);
  co_await destroying(team);
  co_await in_a_scope(team);
  co_await with_limits(team);
  co_await continued(team);
  co_await planned(team);
  co_await as_a_sender(team);
  co_await in_sequence(team);
  co_await messages(team);
  co_await sparse(team);
  co_await shrinking(team);
  co_await teams_from_teams(team);
  co_await chosen(team);
  co_await errors(team);
  co_await arrival_order(team);
  co_await shared(team);
  co_await with_layouts(team);
}

}  // namespace

int main() {
  muster::world world;
  world.run(all(world.team()));
}
