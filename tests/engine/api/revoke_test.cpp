// A rank that breaks a team on purpose: whoever waits in it hears who did, and why.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <muster/api/shrink.hpp>
#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/layouts.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

void check_revoked(const std::optional<error>& why, std::size_t by) {
  REQUIRE(why);
  CHECK(why->code() == errc::stopped);
  CHECK(why->rank() == by);
  CHECK(says(why->what(), "rank " + std::to_string(by) + " revoked the team: no more input"));
}

void check_works(team& of) {
  std::vector<double> values(1000, 1.5);
  start(allreduce(of, values, sum)).wait();
  CHECK(values.back() == 1.5 * static_cast<double>(of.size()));
}

/// Runs on a team of its own, since a rank's error on the first one would end the job.
template <class Body>
void run_on_duplicates(std::size_t ranks, const thread_options& layout, Body body) {
  const watchdog alive("revoke");
  run_threads(
      ranks,
      [&](team& of) {
        const std::unique_ptr<team> own = start(duplicate(of)).wait();
        body(*own);
      },
      layout);
}

TEST_CASE("ranks that wait hear of it, all later calls too, and a new team goes on") {
  for (const std::size_t ranks : {1, 2, 3, 8}) {
    for (const thread_options& layout : all_layouts_and_threads(ranks)) {
      run_on_duplicates(ranks, layout, [](team& of) {
        const std::size_t last = of.size() - 1;
        if (of.rank() == last) {
          std::this_thread::sleep_for(2ms);
          of.revoke("no more input");
        }
        for (int i = 0; i < 2; ++i) {
          check_revoked(failure_of([&] { start(barrier(of)).wait(); }), last);
        }
        const auto rest = start(shrink(of)).wait();
        CHECK(rest->size() == of.size());
        check_works(*rest);
      });
    }
  }
}

TEST_CASE(
    "operations under way on the rank itself end, short and long, and their buffers are free") {
  for (const thread_options& layout : all_layouts(3)) {
    run_on_duplicates(3, layout, [](team& of) {
      if (of.rank() != 0) {  // which never calls
        std::vector<double> little(1, 1.0);
        std::vector<double> much(300'000, 1.0);
        future<> first = start(allreduce(of, little, sum));
        future<> second = start(allreduce(of, much, sum));
        if (of.rank() == 1) of.revoke("no more input");
        check_revoked(failure_of([&] { second.wait(); }), 1);
        check_revoked(failure_of([&] { first.wait(); }), 1);
      } else {
        while (!of.failure()) {
          of.engine().poll();
          std::this_thread::sleep_for(1ms);
        }
      }
      check_works(*start(shrink(of)).wait());
    });
  }
}

TEST_CASE("a team that is broken already keeps its reason") {
  run_on_duplicates(2, {}, [](team& of) {
    if (of.rank() == 0) of.revoke("no more input");
    check_revoked(failure_of([&] { start(barrier(of)).wait(); }), 0);
    of.revoke("something else");
    check_revoked(failure_of([&] { start(barrier(of)).wait(); }), 0);
  });
}

}  // namespace
}  // namespace muster::testing
