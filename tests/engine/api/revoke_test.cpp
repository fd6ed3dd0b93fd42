// A rank that breaks a team on purpose: whoever waits in it hears who did, and why.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
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

/// Short or long; what each rank sends differs.
std::vector<double> data_of(std::size_t rank, std::size_t count) {
  std::vector<double> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<double>(10 * i + rank);
  return data;
}

/// Of collectives of all kinds, begun at once, of which rank 2 has not called the last ones.
void end_early(team& of, std::size_t count) {
  const std::size_t all = count * of.size();
  const std::vector<double> sent = data_of(of.rank(), all);
  std::array<std::vector<double>, 6> received;
  for (auto& each : received) each.resize(all);
  const auto part = std::span(sent).first(count);
  const auto all_of = [&](std::size_t i) { return std::span(received[i]).first(all); };
  const auto part_of = [&](std::size_t i) { return std::span(received[i]).first(count); };
  const auto ended = failure_of([&] {
    std::vector<future<>> calls;
    calls.push_back(start(allreduce(of, sent, all_of(0), sum)));
    calls.push_back(start(alltoall(of, sent, all_of(1))));
    calls.push_back(start(reduce(of, sent, all_of(2), max, 0)));
    if (of.rank() != 2) {
      calls.push_back(start(allgather(of, part, all_of(3))));
      calls.push_back(start(reduce_scatter_block(of, sent, part_of(4), sum)));
      calls.push_back(start(scan(of, part, part_of(5), sum)));
    }
    of.engine().poll();
    if (of.rank() == 1) of.revoke("no more input");
    for (future<>& each : calls) each.wait();
    while (!of.failure()) of.engine().poll();
    throw *of.failure();
  });
  check_revoked(ended, 1);
  CHECK(sent == data_of(of.rank(), all));
}

TEST_CASE("what operations only read is as it was when they have ended early") {
  for (const thread_options& layout : all_layouts(3)) {
    for (const std::size_t count : {1, 500, 40'000}) {
      run_on_duplicates(3, layout, [count](team& of) { end_early(of, count); });
    }
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
