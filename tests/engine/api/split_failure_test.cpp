// Failures on teams made from others: of one team alone, of a rank, of the job.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
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

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

const std::vector<thread_options>& all_layouts() {
  static const std::vector<thread_options> all = {
      {}, {.share_address_space = false}, {.node_of = {0, 0, 1}}, {.node_of = {0, 1, 2}}};
  return all;
}

TEST_CASE("a mismatch on one team leaves the others whole") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("mismatch on one team");
    run_threads(
        3,
        [](team& of) {
          const auto broken = start(duplicate(of)).wait();
          const auto whole = start(duplicate(of)).wait();
          std::vector<int> values(of.rank() == 1 ? 5 : 4, 1);
          const auto why = failure_of([&] {
            start(of.engine(), with_timeout(10s, allreduce(*broken, values, sum))).wait();
            for (int i = 0; i < 3; ++i) start(barrier(*broken)).wait();
          });
          REQUIRE(why);
          INFO(std::string(why->what()));
          CHECK(why->code() == errc::mismatched_call);
          CHECK(says(*why, "allreduce(5"));
          for (team* each : {&of, whole.get()}) {
            std::array<int, 1> one = {1};
            start(allreduce(*each, one, sum)).wait();
            CHECK(one[0] == 3);
          }
          const auto later = failure_of([&] { start(barrier(*broken)).wait(); });
          REQUIRE(later);
          CHECK(says(*later, "broken"));
          CHECK(start(duplicate(*whole)).wait()->size() == 3);
        },
        layout);
  }
}

TEST_CASE("a mismatch on the job's own team leaves those made from it whole") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("mismatch on the job's team");
    run_threads(
        3,
        [](team& of) {
          const auto copy = start(duplicate(of)).wait();
          const auto why = failure_of([&] {
            if (of.rank() == 0) {
              start(duplicate(of)).wait();
            } else {
              start(barrier(of)).wait();
            }
            for (int i = 0; i < 3; ++i) start(barrier(of)).wait();
          });
          REQUIRE(why);
          CHECK(why->code() == errc::mismatched_call);
          std::array<int, 1> one = {1};
          start(allreduce(*copy, one, sum)).wait();
          CHECK(one[0] == 3);
        },
        layout);
  }
}

TEST_CASE("different lists, or a list on one rank and a colour on another") {
  const std::vector<std::size_t> first = {0, 1};
  const std::vector<std::size_t> second = {1, 0};
  for (const thread_options& layout : all_layouts()) {
    for (const bool by_color : {false, true}) {
      const watchdog alive("different requests");
      run_threads(
          3,
          [&](team& of) {
            const auto why = failure_of([&] {
              if (of.rank() != 2) {
                start(subset(of, first)).wait();
              } else if (by_color) {
                start(split(of, 0, 0)).wait();
              } else {
                start(subset(of, second)).wait();
              }
            });
            REQUIRE(why);
            CHECK(why->code() == errc::mismatched_call);
          },
          layout);
    }
  }
}

TEST_CASE("a deadline on one team leaves the others whole") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("deadline on one team");
    run_threads(
        3,
        [](team& of) {
          const auto late = start(duplicate(of)).wait();
          if (of.rank() == 0) {
            const auto why =
                failure_of([&] { start(of.engine(), with_timeout(30ms, barrier(*late))).wait(); });
            REQUIRE(why);
            CHECK(why->code() == errc::deadline_exceeded);
          }
          start(barrier(of)).wait();
          const auto why = failure_of([&] { start(barrier(*late)).wait(); });
          REQUIRE(why);
          CHECK(why->code() == errc::deadline_exceeded);
        },
        layout);
  }
}

TEST_CASE("a deadline while a team is made") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("deadline of a split");
    run_threads(
        3,
        [](team& of) {
          const auto copy = start(duplicate(of)).wait();
          if (of.rank() != 2) {
            const auto why = failure_of(
                [&] { start(of.engine(), with_timeout(30ms, duplicate(*copy))).wait(); });
            REQUIRE(why);
            CHECK(why->code() == errc::deadline_exceeded);
          }
          start(barrier(of)).wait();
          CHECK(failure_of([&] { start(barrier(*copy)).wait(); }));
        },
        layout);
  }
}

TEST_CASE("a rank that leaves is missed in every team it belongs to, and in no other") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("leaving several teams");
    run_threads(
        3,
        [](team& of) {
          const auto copy = start(duplicate(of)).wait();
          const auto pair = start(split(of, of.rank() == 2 ? 1 : 0, 0)).wait();
          start(barrier(of)).wait();
          if (of.rank() == 2) return;
          for (team* each : {copy.get(), &of}) {
            std::vector<int> values(30'000, 1);
            const auto why = failure_of([&] { start(allreduce(*each, values, sum)).wait(); });
            REQUIRE(why);
            CHECK(why->code() == errc::rank_left);
            CHECK(why->rank() == 2);
          }
          start(barrier(*pair)).wait();
        },
        layout);
  }
}

TEST_CASE("a rank that ends with an exception breaks all teams") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("exception");
    const auto body = [](team& of) {
      const auto pair = start(split(of, of.rank() == 2 ? 1 : 0, 0)).wait();
      start(barrier(of)).wait();
      if (of.rank() == 2) throw std::runtime_error("it was the disk");
      const auto why = failure_of([&] {
        for (;;) start(barrier(*pair)).wait();
      });
      REQUIRE(why);
      CHECK(why->code() == errc::rank_died);
      CHECK(says(*why, "it was the disk"));
    };
    CHECK_THROWS_WITH_AS(run_threads(3, body, layout), "it was the disk", std::runtime_error);
  }
}

TEST_CASE("one sleeps for all its teams at once") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("sleeping");
    run_threads(
        3,
        [](team& of) {
          const auto copy = start(duplicate(of)).wait();
          const auto pair = start(split(of, of.rank() == 1 ? 1 : 0, 0)).wait();
          for (int round = 0; round < 3; ++round) {
            if (of.rank() == 2) std::this_thread::sleep_for(30ms);
            if (of.rank() != 1) start(barrier(*pair)).wait();
            if (of.rank() == 2) std::this_thread::sleep_for(30ms);
            start(barrier(*copy)).wait();
          }
        },
        layout);
  }
}

}  // namespace
}  // namespace muster::testing
