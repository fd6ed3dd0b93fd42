// Ranks of several made-up machines that reach each other by somebody else's messages.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/machines.hpp"
#include "tests/transports/mpi/message_threads.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("every collective, short and long, whatever is copied on its way") {
  std::uint64_t number = 0;
  for (const auto& nodes : machine_layouts()) {
    for (const std::size_t eager : {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 20}) {
      if (!is_tried(number++)) continue;
      const watchdog alive("collectives by messages");
      const std::uint64_t seed = run_seed();
      std::vector<spec> calls = all_calls(
          nodes.size(), std::array<std::size_t, 4>{0, 1, 1000, 40'000}, datatype::float64, sum);
      findings found;
      run_by_messages({.node_of = nodes, .eager = eager, .seed = seed},
                      [&](team& of) { make_calls(of, calls, {.seed = seed}, found); });
      CHECK(found.take() == "");
    }
  }
}

TEST_CASE("many operations in flight, by all algorithms, of unpunctual ranks") {
  for (const auto& nodes : machine_layouts()) {
    const watchdog alive("operations in flight by messages");
    const std::uint64_t seed = run_seed();
    const conduct how{.in_flight = 20, .unpunctual = true, .seed = seed, .any_algorithm = true};
    findings found;
    run_by_messages({.node_of = nodes, .seed = seed}, [&](team& of) {
      make_calls(of, random_calls(seed, of.size(), 200, 20'000), how, found);
      const auto half = start(split(of, static_cast<int>(of.rank() % 2), 0)).wait();
      make_calls(*half, random_calls(seed + 1, half->size(), 50, 3'000), how, found);
    });
    CHECK(found.take() == "");
  }
}

TEST_CASE("different calls of ranks on different machines are an error on both") {
  const watchdog alive("a mismatch by messages");
  for (const std::size_t longer : {5U, 50'000U, 500'000U}) {
    run_by_messages({.node_of = {0, 1}, .seed = run_seed()}, [&](team& of) {
      const auto copy = start(duplicate(of)).wait();
      std::vector<int> values(of.rank() == 0 ? 40'000 : longer, 1);
      const auto why = failure_of([&] {
        start(allreduce(*copy, values, sum)).wait();
        start(barrier(*copy)).wait();
      });
      REQUIRE(why);
      INFO(std::string(why->what()));
      CHECK(why->code() == errc::mismatched_call);
      sum_of_ones(of);
    });
  }
}

TEST_CASE("what was invited and never sent, or sent and not taken, is withdrawn") {
  const watchdog alive("withdrawn messages");
  for (int i = 0; i < 30; ++i) {
    if (!is_tried(static_cast<unsigned>(i))) continue;
    run_by_messages(
        {.node_of = {0, 1, 1}, .seed = run_seed() + static_cast<unsigned>(i)}, [&](team& of) {
          const auto copy = start(duplicate(of)).wait();
          std::vector<int> sent(300'000, 1);
          std::vector<int> received(sent.size());
          const auto limit = std::chrono::milliseconds(of.rank() == 0 ? i % 7 : 200);
          // Some ranks give up on the way, and all fail.
          static_cast<void>(failure_of([&] {
            start(of.engine(), with_timeout(limit, alltoall(*copy, sent, received))).wait();
            if (of.rank() == 1) return;
            start(of.engine(), with_timeout(limit, alltoall(*copy, received, sent))).wait();
          }));
          sum_of_ones(of);
        });
  }
}

TEST_CASE("a rank of another machine that is gone is named") {
  const watchdog alive("a rank that is gone, by messages");
  run_by_messages({.node_of = {0, 0, 1}, .seed = run_seed()}, [](team& of) {
    sum_of_ones(of);
    if (of.rank() == 2) return;
    const auto why = failure_of([&] { sum_of_ones(of); });
    REQUIRE(why);
    INFO(std::string(why->what()));
    CHECK(why->rank() == 2);
    CHECK(why->code() == errc::rank_left);
  });
}

TEST_CASE("an exception of a rank breaks the job on other machines") {
  const watchdog alive("an exception, by messages");
  const auto throwing = [] {
    run_by_messages({.node_of = {0, 1, 1}, .seed = run_seed()}, [](team& of) {
      sum_of_ones(of);
      if (of.rank() == 1) throw std::runtime_error("no more");
      sum_of_ones(of);
    });
  };
  CHECK_THROWS_WITH(throwing(), "no more");
}

}  // namespace
}  // namespace muster::testing
