// A rank that is stopped is told from one that works, one that nobody waits for, and one whose
// watchers are stopped, too. The test says what time it is.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>

#include <muster/wire/membership.hpp>

#include "tests/transports/shm/idle_job.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/stop_watch.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using shm::stop_watch;

/// Rank 1 of three is watched.
class watched_job {
public:
  static constexpr std::chrono::milliseconds limit = 2s;

  const idle_process& rank(std::size_t i) const { return all_.rank(i); }
  const shm::job& job() const { return all_.job(); }
  /// As rank 0 does before it sleeps.
  void let_rank_0_sleep_for_it() const {
    const shm::parking parking(job(), 0);
    parking.watch(1);
    parking.arm();
  }
  /// As rank 0 does while it waits, and does not sleep, from now on.
  void let_rank_0_look_out_for_it() { is_missed_ = true; }
  /// Looks again and again for so long, or until it is over: is it?
  bool is_over_after(std::chrono::milliseconds time) {
    const stop_watch::clock::time_point end = now_ + time;
    for (; now_ <= end; now_ += stop_watch::between_looks(limit)) {
      if (is_missed_) job().note_missed(1);
      if (watch_.is_over(now_)) return true;
    }
    return false;
  }
  void let_time_pass(std::chrono::milliseconds time) { now_ += time; }

private:
  idle_job all_{3};
  stop_watch watch_{job(), 1, limit};
  bool is_missed_ = false;
  stop_watch::clock::time_point now_ = stop_watch::clock::now();
};

/// It is lost after the limit from now on, and not before.
void check_limit(watched_job& it) {
  CHECK_FALSE(it.is_over_after(1900ms));
  CHECK(it.is_over_after(500ms));
}

TEST_CASE(
    "a stopped rank is lost after the limit, whether who waits for it sleeps or stays awake") {
  for (const bool sleeps : {true, false}) {
    CAPTURE(sleeps);
    watched_job it;
    if (sleeps) {
      it.let_rank_0_sleep_for_it();
    } else {
      it.let_rank_0_look_out_for_it();
    }
    CHECK_FALSE(it.is_over_after(10s));  // it works
    it.rank(1).stop();
    check_limit(it);
  }
}

TEST_CASE("a stopped rank that nobody waits for is not missed") {
  watched_job it;
  it.rank(1).stop();
  CHECK_FALSE(it.is_over_after(10s));
  it.let_rank_0_sleep_for_it();
  it.job().line(0).parked.store(0);  // it was woken by something else
  CHECK_FALSE(it.is_over_after(10s));
}

TEST_CASE("a stopped rank is not missed by one that is stopped, too, or that is dead") {
  watched_job it;
  it.let_rank_0_sleep_for_it();
  it.rank(0).stop();
  it.rank(1).stop();
  CHECK_FALSE(it.is_over_after(10s));
  it.rank(0).go_on();
  CHECK_FALSE(it.is_over_after(1900ms));
  it.job().set_state(0, wire::liveness::died);
  CHECK_FALSE(it.is_over_after(10s));
}

TEST_CASE("a rank that goes on in time is given the whole limit the next time") {
  watched_job it;
  it.let_rank_0_sleep_for_it();
  it.rank(1).stop();
  CHECK_FALSE(it.is_over_after(1900ms));
  it.rank(1).go_on();
  CHECK_FALSE(it.is_over_after(300ms));
  it.rank(1).stop();
  check_limit(it);
}

TEST_CASE("what was not looked at, since the watcher was stopped itself, does not count") {
  watched_job it;
  it.let_rank_0_sleep_for_it();
  it.rank(1).stop();
  CHECK_FALSE(it.is_over_after(1s));
  it.let_time_pass(60s);
  check_limit(it);
}

TEST_CASE("a stopped rank that has left is not missed, and with no limit none is") {
  watched_job it;
  it.let_rank_0_sleep_for_it();
  it.rank(1).stop();
  stop_watch for_ever(it.job(), 1, 0ms);
  const auto now = stop_watch::clock::now();
  CHECK_FALSE(for_ever.is_over(now));
  CHECK_FALSE(for_ever.is_over(now + 1h));
  it.job().set_state(1, wire::liveness::left);
  CHECK_FALSE(it.is_over_after(10s));
}

TEST_CASE("a stop is described with its length") {
  watched_job it;
  CHECK(stop_watch(it.job(), 1, 10s).text() == "has been stopped for 10 s");
  CHECK(stop_watch(it.job(), 1, 500ms).text() == "has been stopped for 0.5 s");
}

TEST_CASE("looks are an eighth of the limit apart, within bounds") {
  CHECK(stop_watch::between_looks(2s) == 250ms);
  CHECK(stop_watch::between_looks(8ms) == 10ms);
  CHECK(stop_watch::between_looks(1h) == 500ms);
  CHECK(stop_watch::between_looks(0ms) == 500ms);
}

}  // namespace
}  // namespace muster::testing
