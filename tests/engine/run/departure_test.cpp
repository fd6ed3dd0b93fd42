// Ranks that are late for good, stop, die or leave: the others learn who and why.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

const std::vector<thread_options>& all_shapes() {
  static const std::vector<thread_options> shapes = {
      {},
      {.share_address_space = false},
      {.node_of = {0, 0, 1}},
      {.node_of = {0, 1, 2}},
  };
  return shapes;
}

/// A large allreduce that needs every rank.
task<> work(team& of) {
  std::vector<double> values(30000, 1.0);
  co_await allreduce(of, values, sum);
}

TEST_CASE("a deadline for an operation whose peer does not come: the others get an error too") {
  for (const thread_options& shape : all_shapes()) {
    const watchdog alive("deadline");
    std::array<std::optional<error>, 3> ended;
    std::atomic<bool> over = false;
    run_threads(
        3,
        [&](team& of) {
          if (of.rank() == 2) {
            while (!over) std::this_thread::sleep_for(1ms);
          } else if (of.rank() == 0) {
            ended[0] = failure_of([&] { start(of.engine(), with_timeout(50ms, work(of))).wait(); });
          } else {
            ended[1] = failure_of([&] { start(work(of)).wait(); });
          }
          if (of.rank() == 1) over = true;
          if (of.rank() == 2) ended[2] = failure_of([&] { start(work(of)).wait(); });
        },
        shape);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      INFO("rank ", rank);
      REQUIRE(ended[rank]);
      INFO(std::string(ended[rank]->what()));
      CHECK(ended[rank]->code() == errc::deadline_exceeded);
    }
    CHECK(says(*ended[1], "rank 0"));
    CHECK(says(*ended[2], "rank 0"));
  }
}

TEST_CASE("a stop of an operation whose peer does not come") {
  for (const thread_options& shape : all_shapes()) {
    const watchdog alive("stop");
    std::array<std::optional<error>, 3> ended;
    std::stop_source source;
    std::atomic<bool> stopped = false;
    run_threads(
        3,
        [&](team& of) {
          if (of.rank() == 2) {
            std::this_thread::sleep_for(30ms);
            source.request_stop();
            while (!stopped) std::this_thread::sleep_for(1ms);
            ended[2] = failure_of([&] { start(barrier(of)).wait(); });
          } else if (of.rank() == 1) {
            ended[1] = failure_of([&] { start(barrier(of)).wait(); });
          } else {
            auto limited = with_stop(source.get_token(), barrier(of));
            ended[0] = failure_of([&] { start(of.engine(), std::move(limited)).wait(); });
            stopped = true;
          }
        },
        shape);
    for (const auto& why : ended) {
      REQUIRE(why);
      CHECK(why->code() == errc::stopped);
    }
  }
}

TEST_CASE("a rank that ends with an exception: the others are told its name and reason") {
  for (const thread_options& shape : all_shapes()) {
    for (const std::size_t victim : {0, 1, 2}) {
      const watchdog alive("exception");
      std::array<std::optional<error>, 3> ended;
      std::array<clock::time_point, 3> when;
      const auto body = [&](team& of) {
        start(barrier(of)).wait();
        if (of.rank() == victim) {
          start(work(of)).detach();
          std::this_thread::sleep_for(20ms);
          when[victim] = clock::now();
          throw std::runtime_error("it was the disk");
        }
        ended[of.rank()] = failure_of([&] {
          for (int i = 0; i < 1000; ++i) start(work(of)).wait();
        });
        when[of.rank()] = clock::now();
      };
      CHECK_THROWS_WITH_AS(run_threads(3, body, shape), "it was the disk", std::runtime_error);
      for (std::size_t rank = 0; rank < 3; ++rank) {
        if (rank == victim) continue;
        INFO("rank ", rank, ", victim ", victim);
        REQUIRE(ended[rank]);
        INFO(std::string(ended[rank]->what()));
        CHECK(ended[rank]->code() == errc::rank_died);
        CHECK(ended[rank]->rank() == victim);
        CHECK(says(*ended[rank], "rank " + std::to_string(victim)));
        CHECK(says(*ended[rank], "it was the disk"));
        CHECK(when[rank] - when[victim] < 1s);
      }
    }
  }
}

TEST_CASE("an exception that destroys a future: the others are told whose") {
  for (const thread_options& shape : all_shapes()) {
    const watchdog alive("exception past a future");
    std::array<std::optional<error>, 3> ended;
    const auto body = [&](team& of) {
      start(barrier(of)).wait();
      if (of.rank() == 1) {
        const future<> begun = start(work(of));
        throw std::runtime_error("it was the disk");
      }
      ended[of.rank()] = failure_of([&] {
        for (int i = 0; i < 1000; ++i) start(work(of)).wait();
      });
    };
    CHECK_THROWS_WITH_AS(run_threads(3, body, shape), "it was the disk", std::runtime_error);
    for (const std::size_t rank : {0, 2}) {
      REQUIRE(ended[rank]);
      INFO(std::string(ended[rank]->what()));
      CHECK(ended[rank]->rank() == 1);
      CHECK((says(*ended[rank], "its future was destroyed") || says(*ended[rank], "the disk")));
    }
  }
}

TEST_CASE("a rank that leaves while others wait for it") {
  for (const thread_options& shape : all_shapes()) {
    for (const std::size_t leaver : {0, 1, 2}) {
      const watchdog alive("leaving");
      std::array<std::optional<error>, 3> ended;
      run_threads(
          3,
          [&](team& of) {
            start(barrier(of)).wait();
            if (of.rank() == leaver) return;
            ended[of.rank()] = failure_of([&] { start(work(of)).wait(); });
          },
          shape);
      for (std::size_t rank = 0; rank < 3; ++rank) {
        if (rank == leaver) continue;
        INFO("rank ", rank, ", leaver ", leaver);
        REQUIRE(ended[rank]);
        INFO(std::string(ended[rank]->what()));
        CHECK(ended[rank]->code() == errc::rank_left);
        CHECK(ended[rank]->rank() == leaver);
        CHECK(says(*ended[rank], "rank " + std::to_string(leaver)));
      }
    }
  }
}

TEST_CASE("a rank that leaves when it has done its part disturbs nobody") {
  const watchdog alive("leaving at the end");
  for (const thread_options& shape : all_shapes()) {
    for (int i = 0; i < 20; ++i) {
      run_threads(
          3,
          [](team& of) {
            std::array<int, 2> value = {1, static_cast<int>(of.rank())};
            std::this_thread::sleep_for(std::chrono::microseconds(of.rank() * 300));
            start(bcast(of, value, 0)).wait();
            std::array<int, 1> one = {1};
            start(reduce(of, one, sum, 2)).wait();
            if (of.rank() == 2) CHECK(one[0] == 3);
          },
          shape);
    }
  }
}

TEST_CASE("nor does one that has left while others are still to come") {
  for (const thread_options& shape : all_shapes()) {
    for (const std::size_t count : {1, 100}) {
      const watchdog alive("leaving before others come");
      std::vector<int> sums(count, 1);
      run_threads(
          3,
          [&](team& of) {
            // Long enough for the root to look who is alive.
            if (of.rank() == 1) std::this_thread::sleep_for(50ms);
            std::vector<int> mine(count, 1);
            start(reduce(of, of.rank() == 0 ? sums : mine, sum, 0)).wait();
          },
          shape);
      CHECK(sums == std::vector<int>(count, 3));
    }
  }
}

// ---- whoever of a node it falls to

std::atomic<bool> others_may_send = false;

/// Rank 0's wait for what rank 1 sends, or rank 2. Both leave while it looks which are there: when
/// it has looked at rank 1, and before it looks at rank 2.
class wait_for_any final : public collective_wait {
public:
  explicit wait_for_any(context& me) : collective_wait(me.state()), heard_(2) {
    for (std::size_t i = 0; i < 2; ++i) {
      links_[i] = &me_.links().open(me_.ticket().link_lane, ranks_[i], purpose);
      listeners_[i] = {.in = &heard_, .number = i};
      links_[i]->listen(wire::coming::message, listeners_[i]);
    }
  }
  ~wait_for_any() {
    for (std::size_t i = 0; i < 2; ++i) {
      links_[i]->ignore(wire::coming::message, listeners_[i]);
      me_.links().close(*links_[i], purpose);
    }
  }
  wait_for_any(const wait_for_any&) = delete;
  wait_for_any& operator=(const wait_for_any&) = delete;

  bool ready() noexcept override { return !heard_.empty(); }
  bool await_ready() noexcept { return ready(); }
  std::size_t await_resume() {
    rethrow_interruption();
    return ranks_[heard_.first()];
  }

private:
  static constexpr auto purpose = wire::links::purpose::listen;

  std::span<const std::size_t> candidates() const noexcept override { return ranks_; }
  bool awaits(std::size_t candidate) const noexcept override {
    if (candidate == 1 && looked_at_first_) let_them_go();
    return !heard_.contains(candidate) && (is_there(candidate) || (!is_there(0) && !is_there(1)));
  }
  std::exception_ptr in_vain(std::size_t rank) const noexcept override {
    looked_at_first_ = true;
    return collective_wait::in_vain(rank);
  }
  bool is_there(std::size_t candidate) const noexcept {
    return me_.members().state(ranks_[candidate]) == wire::liveness::alive;
  }
  void let_them_go() const noexcept {
    others_may_send = true;
    while (is_there(0) || is_there(1)) std::this_thread::sleep_for(1ms);
  }

  static constexpr std::array<std::size_t, 2> ranks_ = {1, 2};
  std::array<wire::link*, 2> links_;
  std::array<wire::listener, 2> listeners_;
  wire::arrival_set heard_;
  mutable bool looked_at_first_ = false;
};

task<> send_if_first(context& me, const arguments&) {
  me.arrive();
  if (me.rank() == 0) {
    std::size_t from = 0;
    {
      wait_for_any coming(me);
      from = co_await coming;
    }
    CHECK(from == 1);
    co_return co_await me.receive_note(from, {});
  }
  while (!others_may_send) std::this_thread::sleep_for(1ms);
  if (me.rank() == 1) co_await me.send_note(0, {});
}

bool always(const shape&, const machine&, const arguments&) { return true; }
stage_kind one_way(const shape&, const machine&, const arguments&) { return stage_kind::one_way; }

TEST_CASE("nor does one that leaves right after another that did what fell to either") {
  const algorithm either = {.id = "either",
                            .what = collective::barrier,
                            .summary = "one of two ranks sends",
                            .source = "this test",
                            .suits = always,
                            .stages = one_way,
                            .run = send_if_first};
  const watchdog alive("leaving right after another");
  others_may_send = false;
  run_threads(3, [](team& of) { start(barrier(of)).wait(); },
              {.node_of = {0, 1, 1}, .algorithms = {&either, 1}});
  CHECK(others_may_send);
}

TEST_CASE("an engine stopped with an operation in flight breaks the team for the others") {
  const watchdog alive("engine stopped");
  std::array<std::optional<error>, 2> ended;
  run_threads(2, [&](team& of) {
    if (of.rank() == 0) {
      future<> begun = start(barrier(of));
      of.engine().stop();
      ended[0] = failure_of([&] { begun.wait(); });
    } else {
      std::this_thread::sleep_for(20ms);
      ended[1] = failure_of([&] {
        start(barrier(of)).wait();  // the other has arrived at this one
        start(barrier(of)).wait();
      });
    }
  });
  REQUIRE(ended[0]);
  CHECK(ended[0]->code() == errc::stopped);
  REQUIRE(ended[1]);
  CHECK(ended[1]->code() == errc::stopped);
}

}  // namespace
}  // namespace muster::testing
