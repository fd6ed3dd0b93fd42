// Whoever of a node is last to count itself in: that there is exactly one, and what it sees; and
// messages from whoever of some ranks sends one.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include <muster/api/split.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

bool always(const shape&, const machine&, const arguments&) { return true; }
stage_kind one_way(const shape&, const machine&, const arguments&) { return stage_kind::one_way; }

/// The last of each node, who waits for nobody, adds up what its ranks gave; the first rank of the
/// first node receives the sums. But for these nobody waits.
task<> add_up(context& me, const arguments& call) {
  me.publish(call.contribution());
  if (co_await me.count_in()) {
    const std::span<std::byte> sum = me.scratch(call.bytes());
    pooled<const std::byte*> inputs(me.node().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = me.published(i, call.bytes()).data();
    }
    co_await me.combine(sum.data(), inputs, call.count);
    co_await me.send(0, sum);
  }
  if (me.rank() != 0) co_return;
  const std::size_t nodes = me.shape().nodes();
  pooled<std::byte> sums(nodes * call.bytes());
  pooled<const std::byte*> inputs(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::span place(sums.data() + node * call.bytes(), call.bytes());
    inputs[node] = place.data();
    const std::size_t from = co_await me.sender_among(me.shape().ranks_of(node));
    co_await me.receive(from, place);
  }
  co_await me.combine(call.receive, inputs, call.count);
}

const algorithm adding_up = {.id = "adding_up",
                             .what = collective::reduce,
                             .summary = "whoever is last combines",
                             .source = "this test",
                             .suits = always,
                             .stages = one_way,
                             .run = add_up};

/// Teams are made with these.
const std::vector<algorithm>& rows() {
  static const std::vector<algorithm> all = [] {
    std::vector<algorithm> result = {adding_up};
    for (const algorithm& each : algos::catalog()) {
      if (each.what != collective::reduce) result.push_back(each);
    }
    return result;
  }();
  return all;
}

std::vector<thread_options> layouts() {
  std::vector<thread_options> all = {
      {}, {.node_of = {0, 1, 1, 0, 1}}, {.node_of = {0, 1, 2, 3, 4}}};
  for (thread_options& each : all) each.algorithms = rows();
  return all;
}

/// More operations than lanes, all begun before any is waited for.
task<> reduce_many(team& of, std::size_t operations, std::size_t count) {
  std::vector<std::vector<int>> given(operations);
  std::vector<std::vector<int>> sums(operations, std::vector<int>(count));
  std::vector<task<>> all;
  for (std::size_t k = 0; k < operations; ++k) {
    given[k].assign(count, static_cast<int>(of.rank() + k));
    all.push_back(reduce(of, given[k], sums[k], sum, 0));
  }
  co_await when_all(std::move(all));
  if (of.rank() != 0) co_return;
  const std::size_t ranks = of.size();
  for (std::size_t k = 0; k < operations; ++k) {
    REQUIRE(sums[k].back() == static_cast<int>(ranks * (ranks - 1) / 2 + ranks * k));
  }
}

TEST_CASE("of every operation one rank a node is last, and sees what all have given") {
  const watchdog alive("the last");
  for (const thread_options& each : layouts()) {
    run_threads(
        5,
        [](team& of) {
          for (const std::size_t count : {1, 12, 13, 300}) {
            start(of.engine(), reduce_many(of, 500, count)).wait();
          }
        },
        each);
  }
}

TEST_CASE("teams made from others count for themselves") {
  const watchdog alive("teams");
  const auto body = [](team& of) -> task<> {
    const auto copy = co_await duplicate(of);
    const auto half = co_await split(of, static_cast<int>(of.rank() % 2), 0);
    const std::vector<std::size_t> chosen = {4, 1, 2};
    std::vector<task<>> all;
    all.push_back(reduce_many(of, 100, 3));
    all.push_back(reduce_many(*copy, 100, 300));
    all.push_back(reduce_many(*half, 100, 5));
    co_await when_all(std::move(all));
    const auto some = co_await subset(of, chosen);
    if (some != nullptr) co_await reduce_many(*some, 100, 3);
  };
  for (const thread_options& each : layouts()) {
    run_threads(5, [&](team& of) { start(of.engine(), body(of)).wait(); }, each);
  }
}

TEST_CASE("who is last finds out that another rank is in another operation") {
  const watchdog alive("mismatch");
  thread_options options;
  options.algorithms = rows();
  std::atomic<int> failed = 0;
  run_threads(
      3,
      [&](team& of) {
        std::vector<int> mine(of.rank() == 1 ? 2 : 1);
        std::vector<int> all(2);
        const auto why = failure_of([&] {
          start(of.engine(),
                with_timeout(5s, reduce(of, mine, std::span(all).first(mine.size()), sum, 0)))
              .wait();
          start(of.engine(), with_timeout(5s, barrier(of))).wait();
        });
        if (why && why->code() == errc::mismatched_call) ++failed;
      },
      options);
  CHECK(failed == 3);
}

// ---- of whom nobody knows who will send

thread_options two_nodes() { return {.node_of = {0, 1, 1, 1}, .algorithms = rows()}; }

TEST_CASE("ranks that have left are not missed as long as another may send") {
  const watchdog alive("those who left");
  int result = 0;
  run_threads(
      4,
      [&](team& of) {
        if (of.rank() == 3) std::this_thread::sleep_for(50ms);
        std::vector<int> mine = {static_cast<int>(of.rank()) + 1};
        std::vector<int> all(1);
        start(of.engine(), reduce(of, mine, all, sum, 0)).wait();
        if (of.rank() == 0) result = all[0];
      },
      two_nodes());
  CHECK(result == 1 + 2 + 3 + 4);
}

TEST_CASE("when all have left nobody will send") {
  const watchdog alive("all left");
  std::optional<error> why;
  run_threads(
      4,
      [&](team& of) {
        if (of.rank() != 0) return;
        std::vector<int> mine = {1};
        std::vector<int> all(1);
        why = failure_of([&] { start(of.engine(), reduce(of, mine, all, sum, 0)).wait(); });
      },
      two_nodes());
  REQUIRE(why);
  CHECK(why->code() == errc::rank_left);
}

}  // namespace
}  // namespace muster::testing
