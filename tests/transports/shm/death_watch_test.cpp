// Ranks that end or are stopped, as a rank of the same machine sees them.

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <muster/wire/membership.hpp>

#include "tests/transports/shm/idle_job.hpp"
#include "transports/shm/death_watch.hpp"
#include "transports/shm/job.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using wire::liveness;

constexpr std::chrono::milliseconds for_ever(0);

/// Of four ranks rank 0 watches, and knows them by other numbers.
class seen_by_rank_0 {
public:
  explicit seen_by_rank_0(std::chrono::milliseconds stop = for_ever)
      : watch_(all_.job(), 0, {10, 11, 12, 13}, stop) {}

  const idle_process& rank(std::size_t i) const { return all_.rank(i); }
  const shm::job& job() const { return all_.job(); }
  /// Waits until a rank is held for dead.
  void await_loss(std::size_t rank) const {
    while (job().state(rank) == liveness::alive) std::this_thread::sleep_for(1ms);
    CHECK(job().state(rank) == liveness::died);
  }
  std::string failure() const {
    const auto why = job().failed();
    return why ? why->text : "";
  }
  std::string name(std::size_t i) const {
    return "rank " + std::to_string(10 + i) + " (process " + std::to_string(rank(i).id()) + ") ";
  }

private:
  idle_job all_{4};
  shm::death_watch watch_;
};

TEST_CASE("the next rank's end breaks the job") {
  const seen_by_rank_0 all;
  all.rank(1).end();
  all.await_loss(1);
  CHECK(all.failure() == all.name(1) + "ended without leaving the job");
  CHECK(all.job().state(2) == liveness::alive);
}

TEST_CASE("a rank is watched once those before it are gone") {
  const seen_by_rank_0 all;
  all.job().set_state(1, liveness::left);
  all.rank(2).end();
  all.await_loss(2);
  CHECK(all.failure() == all.name(2) + "ended without leaving the job");
  all.rank(3).end();
  all.await_loss(3);
  CHECK(all.job().state(1) == liveness::left);
}

TEST_CASE("a rank is watched while those before it are stopped, or have left") {
  const seen_by_rank_0 all;
  all.rank(1).stop();
  all.job().set_state(2, liveness::left);
  all.rank(3).end();
  all.await_loss(3);
  CHECK(all.failure() == all.name(3) + "ended without leaving the job");
  CHECK(all.job().state(1) == liveness::alive);
}

TEST_CASE("a stopped rank that is waited for breaks the job after the limit") {
  const seen_by_rank_0 all(200ms);
  all.rank(1).stop();
  const auto start = std::chrono::steady_clock::now();
  std::jthread waits([&](const std::stop_token& enough) {
    while (!enough.stop_requested()) {
      all.job().note_missed(1);
      std::this_thread::sleep_for(1ms);
    }
  });
  all.await_loss(1);
  CHECK(std::chrono::steady_clock::now() - start >= 200ms);
  CHECK(all.failure() == all.name(1) + "has been stopped for 0.2 s");
}

TEST_CASE("the next rank's end is noticed also where the program has no descriptor left") {
  const seen_by_rank_0 all;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  // What is open stays open. With less than 2 it could not even wait for two.
  const rlimit none{.rlim_cur = 2, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  all.rank(1).end();
  all.await_loss(1);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(all.failure() == all.name(1) + "ended without leaving the job");
}

}  // namespace
}  // namespace muster::testing
