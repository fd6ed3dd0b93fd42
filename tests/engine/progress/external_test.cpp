// Engines that somebody else's loop drives.

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/gate.hpp"
#include "tools/conformance/watchdog.hpp"
#include "transports/shm/fabric.hpp"
#include "transports/shm/job.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

int milliseconds(std::optional<clock_time> limit) {
  if (!limit) return -1;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*limit).count());
}

/// What any event loop does: poll while there is work, then sleep on the descriptor.
/// \returns how often it slept
template <class T>
int loop_until_ready(engine& here, future<T>& result) {
  int sleeps = 0;
  while (!result.ready()) {
    if (here.poll() || !here.prepare_to_sleep()) continue;
    pollfd entry{.fd = here.wakeup_descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, milliseconds(here.sleep_limit()));
    ++sleeps;
  }
  return sleeps;
}

TEST_CASE("ranks that sleep in a loop of their own wake each other") {
  const watchdog alive("external: ranks");
  std::array<int, 2> slept{};
  run_threads(2,
              [&slept](team& of) {
                for (int i = 0; i < 30; ++i) {
                  if (i % 2 == static_cast<int>(of.rank())) std::this_thread::sleep_for(2ms);
                  std::array<int, 1> value = {1};
                  future<> sum_of_all = start(allreduce(of, value, sum));
                  slept[of.rank()] += loop_until_ready(of.engine(), sum_of_all);
                  CHECK(value[0] == 2);
                }
              },
              {.progress = progress::external});
  CHECK(slept[0] > 0);
  CHECK(slept[1] > 0);
}

task<> pass(const gate& at) { co_await at.passed(); }

TEST_CASE("a deadline limits the sleep") {
  const watchdog alive("external: deadline");
  engine here({.progress = progress::external});
  const gate never;
  future<> work = start(here, with_timeout(30ms, pass(never)));
  CHECK(here.prepare_to_sleep());
  REQUIRE(here.sleep_limit());
  CHECK(*here.sleep_limit() <= 30ms);
  CHECK(loop_until_ready(here, work) >= 1);
  CHECK_THROWS_AS(work.wait(), error);
}

TEST_CASE("nothing to wait for: no limit; the bell makes the descriptor readable, poll resets it") {
  engine here({.progress = progress::external});
  CHECK_FALSE(here.sleep_limit());
  REQUIRE(here.prepare_to_sleep());
  pollfd entry{.fd = here.wakeup_descriptor(), .events = POLLIN, .revents = 0};
  CHECK(::poll(&entry, 1, 0) == 0);
  here.ring();
  CHECK(::poll(&entry, 1, 0) == 1);
  here.poll();
  CHECK(::poll(&entry, 1, 0) == 0);
}

TEST_CASE("what is ready before the sleep prevents it") {
  engine here({.progress = progress::external});
  gate at;
  future<> work = start(here, pass(at));
  at.open();
  CHECK_FALSE(here.prepare_to_sleep());
  CHECK(work.ready());
}

/// One rank whose engine waits for others to drive it.
class driven_rank {
public:
  driven_rank(const shm::job& job, std::size_t rank)
      : fabric_(job, rank),
        engine_(options(fabric_), doorbell::share(job.bell(rank))),
        team_(engine_, fabric_, job.shape(), rank, algos::catalog(), job.machine()) {}
  ~driven_rank() { engine_.stop(); }
  driven_rank(const driven_rank&) = delete;
  driven_rank& operator=(const driven_rank&) = delete;

  muster::engine& engine() { return engine_; }
  muster::team& team() { return team_; }

private:
  static engine_options options(shm::fabric& reach) {
    engine_options result;
    result.progress = progress::external;
    result.sources = {reach.source()};
    return result;
  }

  shm::fabric fabric_;
  muster::engine engine_;
  muster::team team_;
};

shm::job job_of(std::size_t ranks) {
  shm::job_options options;
  options.places.resize(ranks);
  options.arena_bytes = 1 << 20;
  options.one_process = true;
  return shm::job::create(options);
}

task<> work_of(team& of, int& result) {
  std::array<int, 1> value = {static_cast<int>(of.rank())};
  for (int i = 0; i < 20; ++i) {
    value[0] = static_cast<int>(of.rank());
    co_await allreduce(of, value, sum);
    co_await barrier(of);
  }
  result = value[0];
}

TEST_CASE("many ranks in one thread, all in one epoll") {
  const watchdog alive("external: one thread");
  constexpr std::size_t ranks = 5;
  const shm::job job = job_of(ranks);
  std::vector<std::unique_ptr<driven_rank>> all;
  for (std::size_t i = 0; i < ranks; ++i) all.push_back(std::make_unique<driven_rank>(job, i));
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  for (auto& each : all) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = each.get()}};
    REQUIRE(::epoll_ctl(loop, EPOLL_CTL_ADD, each->engine().wakeup_descriptor(), &event) == 0);
  }

  std::array<int, ranks> results{};
  std::vector<future<>> running;
  for (std::size_t i = 0; i < ranks; ++i) {
    // All but the last have begun, and sleep, before the last does.
    if (i == ranks - 1) {
      for (std::size_t j = 0; j < i; ++j) {
        while (!all[j]->engine().prepare_to_sleep()) all[j]->engine().poll();
      }
    }
    running.push_back(start(work_of(all[i]->team(), results[i])));
  }
  const auto done = [&] {
    return std::ranges::all_of(running, [](future<>& each) { return each.ready(); });
  };
  while (!done()) {
    for (auto& each : all) {
      while (each->engine().poll() || !each->engine().prepare_to_sleep()) {
      }
    }
    epoll_event ready[ranks];
    const int count = ::epoll_wait(loop, ready, ranks, -1);
    REQUIRE(count > 0);
  }
  ::close(loop);
  for (const int result : results) CHECK(result == 10);
}

}  // namespace
}  // namespace muster::testing
