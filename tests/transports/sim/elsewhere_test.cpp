// A leader that is elsewhere while its node's part of an operation is complete.

#include <doctest/doctest.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/coro/when_all.hpp>

#include "tests/transports/sim/run.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

task<> be_elsewhere(sim::rank& me) {
  if (me.number() == 4) co_await me.compute(1ms);
}

/// When the root of a reduce over two nodes has the result, in nanoseconds: the leader of the other
/// node computes as soon as it has given its part, and its last rank comes a little later.
double root_has_result(std::string_view algorithm) {
  sim::model of = free_model();
  of.network.latency_ns = 1000;
  of.network.copy_to_bytes = 4096;
  of.memory.flag_ns = 80;
  return run(of, {.node_of = {0, 0, 0, 0, 1, 1, 1, 1}},
             [algorithm](sim::rank& me) -> task<> {
               me.team().choose(collective::reduce, algorithm);
               const std::vector<int> mine(4, 1);
               std::vector<int> all(4);
               if (me.number() == 7) co_await me.rest(10us);
               auto part = reduce(me.team(), mine, all, sum, 0);
               auto meanwhile = be_elsewhere(me);
               co_await when_all(std::move(part), std::move(meanwhile));
             })
      .front();
}

TEST_CASE("whoever is last does not wait for a leader that is elsewhere") {
  CHECK(root_has_result("srm") > 1'000'000);
  CHECK(root_has_result("last_combines") < 12'000);
}

}  // namespace
}  // namespace muster::testing
