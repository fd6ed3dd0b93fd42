// A team that one rank cannot make, for want of memory of its own, is broken for all.

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include <muster/muster.hpp>

#include <muster/run/team.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/scarce_memory.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

void use(team& of, int ranks) {
  std::array<int, 1> one = {1};
  start(allreduce(of, one, sum)).wait();
  CHECK(one[0] == ranks);
}

/// Rank 1 has no room for its team.
void make_but_one(team& of) {
  if (of.rank() == 1) {
    const scarce_memory scarce(sizeof(team));
    CHECK_THROWS_AS(start(duplicate(of)).wait(), std::bad_alloc);
    CHECK(scarce.refused() == 1);
    return;
  }
  const auto made = start(duplicate(of)).wait();
  const auto why = failure_of([&] { use(*made, 3); });
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
  CHECK(why->rank() == 1);
  CHECK(says(*why, "rank 1 has no memory for its team"));
}

TEST_CASE("a team that one rank cannot make is broken for the others") {
  for (const thread_options& layout : std::vector<thread_options>{
           {}, {.share_address_space = false}, {.node_of = {0, 0, 1}}, {.node_of = {0, 1, 2}}}) {
    const watchdog alive("a team that one rank cannot make");
    run_threads(
        3,
        [](team& of) {
          // Afterwards frames come from the pool, which is not to be refused any.
          use(*start(duplicate(of)).wait(), 3);
          // More often than there is memory for teams: what was provided is used again.
          for (int i = 0; i < 100; ++i) make_but_one(of);
          use(of, 3);
          use(*start(duplicate(of)).wait(), 3);
        },
        layout);
  }
}

}  // namespace
}  // namespace muster::testing
