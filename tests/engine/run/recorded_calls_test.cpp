#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include <muster/muster.hpp>
#include <muster/run/flight_recorder.hpp>

#include "tools/library/why/look.hpp"

namespace muster::testing {
namespace {

task<> call_some(team& of) {
  std::vector<double> few(1, 1);
  std::vector<double> many(1 << 18, 1);
  co_await allreduce(of, few, sum);
  co_await allreduce(of, many, sum);
  plan again(barrier(of));
  for (int i = 0; i < 3; ++i) co_await again.run();
}

/// The calls that are kept of a rank that makes some.
std::vector<why::seen_call> calls_of(team& of) {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, {.process = 1,
                                     .rank = of.rank(),
                                     .ranks = of.size(),
                                     .clock_ns = why::time_of_day(),
                                     .host = "here"});
  flight_recorder& usual = *of.flight();
  of.keep_flight_record(recorder);
  start(of.engine(), call_some(of)).wait();
  of.keep_flight_record(usual);
  return why::look_at({*memory, false})->calls;
}

TEST_CASE("flight recorder: calls and runs of plans are on record, and have ended") {
  run_threads(3, [](team& of) {
    const std::vector<why::seen_call> calls = calls_of(of);
    REQUIRE(calls.size() == 5);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CHECK(calls[i].sequence == i + 1);
      CHECK(calls[i].is == why::seen_call::state::ended);
      CHECK(static_cast<collective>(calls[i].kind & 0xff) ==
            (i < 2 ? collective::allreduce : collective::barrier));
    }
    CHECK(calls[1].count == 1 << 18);
  });
}

}  // namespace
}  // namespace muster::testing
