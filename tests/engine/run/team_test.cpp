// Choosing algorithms, and what a team says of itself.

#include <muster/environment/environment.hpp>
#include <muster/run/team.hpp>

#include <doctest/doctest.h>

#include <array>

#include <cstdlib>
#include <string>

#include <muster/muster.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

TEST_CASE("a team knows its ranks, nodes and engine") {
  run_threads(3,
              [](team& of) {
                CHECK(of.size() == 3);
                CHECK(of.rank() < 3);
                CHECK(of.shape().nodes() == 2);
                CHECK(of.shape().node_of(2) == 1);
              },
              {.node_of = {0, 0, 1}});
}

TEST_CASE("an algorithm chosen by hand is the one that runs") {
  run_threads(2, [](team& of) {
    const std::array<std::size_t, 2> nothing = {0, 0};
    const block_layout empty = {.counts = nothing, .displacements = nothing};
    for (const algorithm& row : algos::catalog()) {
      arguments call;
      call.what = row.what;
      call.send_blocks = call.receive_blocks = &empty;
      if (!row.suits(of.shape(), of.machine(), call)) continue;
      of.choose(row.what, row.id);
      CHECK(chosen_algorithm(of, call) == row.id);
      of.choose(row.what, {});
    }
  });
}

TEST_CASE("an algorithm that does not exist: the error names those that do") {
  run_threads(1, [](team& of) {
    const auto why = failure_of([&] { of.choose(collective::bcast, "quantum"); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(*why, "'quantum'"));
    CHECK(says(*why, "bcast"));
    for (const algorithm& row : algos::catalog()) {
      if (row.what == collective::bcast) CHECK(says(*why, row.id));
    }
  });
}

TEST_CASE("an algorithm that does not suit the call is refused, and the team stays whole") {
  run_threads(2,
              [](team& of) {
                of.choose(collective::barrier, "flat");  // for one node only
                const auto why = failure_of([&] { start(barrier(of)).wait(); });
                REQUIRE(why);
                CHECK(why->code() == errc::invalid_argument);
                CHECK(says(*why, "'flat'"));
                of.choose(collective::barrier, {});
                start(barrier(of)).wait();
              },
              {.node_of = {0, 1}});
}

TEST_CASE("the environment chooses as well") {
  CHECK(environment_name(collective::allreduce) == "MUSTER_ALLREDUCE");
  CHECK(environment_name(collective::reduce_scatter_block) == "MUSTER_REDUCE_SCATTER_BLOCK");
  ::setenv("MUSTER_BARRIER", "srm", 1);
  run_threads(2, [](team& of) {
    CHECK(chosen_algorithm(of, arguments{}) == "srm");
    start(barrier(of)).wait();
  });
  ::setenv("MUSTER_BARRIER", "nonsense", 1);
  const auto why = failure_of([] { run_threads(1, [](team&) {}); });
  ::unsetenv("MUSTER_BARRIER");
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(says(*why, "nonsense"));
}

TEST_CASE("teams of threads that cannot be made") {
  auto why = failure_of([] { run_threads(0, [](team&) {}); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  why = failure_of([] { run_threads(3, [](team&) {}, {.node_of = {0, 1}}); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(says(*why, "node_of"));
  for (const std::size_t connections : {0, 17}) {
    why = failure_of([&] { run_threads(2, [](team&) {}, {.connections = connections}); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(*why, "connections is " + std::to_string(connections) + "; expected 1 to 16"));
  }
}

TEST_CASE("a program that nobody started is a team of one") {
  ::unsetenv("MUSTER_JOB");
  world alone;
  CHECK(alone.team().size() == 1);
  CHECK(alone.team().rank() == 0);
  int value[1] = {4};
  alone.run(allreduce(alone.team(), value, sum));
  alone.run(barrier(alone.team()));
  CHECK(value[0] == 4);
}

TEST_CASE("errors carry a code of Muster's category with a message, and a rank") {
  for (int code = 1; code <= static_cast<int>(errc::resource); ++code) {
    const std::error_code made = static_cast<errc>(code);
    CHECK(std::string(made.category().name()) == "muster");
    CHECK(made.message() != "unknown error");
  }
  const error why(errc::rank_died, "text of mine", 7);
  CHECK(why.rank() == 7);
  CHECK(says(why, "text of mine"));
  CHECK(error(errc::stopped, "x").rank() == no_rank);
}

}  // namespace
}  // namespace muster::testing
