// Which way is taken, after what both have cost.

#include <doctest/doctest.h>

#include <cstddef>

#include <muster/call/arguments.hpp>
#include <muster/team/machine.hpp>
#include <muster/team/timed_lending.hpp>

namespace muster::testing {
namespace {

using way = timed_lending::way;

struct costs {
  double staged = 1;
  double lent = 1;
};

/// Goes through so many operations that cost so much. How many were lent, trials left out?
int count_lent(timed_lending& of, way usual, const costs& cost, int operations) {
  int lent = 0;
  for (int i = 0; i < operations; ++i) {
    const timed_lending::choice now = of.next(usual);
    if (now.is_trial) {
      of.learn(now.how, now.how == way::lent ? cost.lent : cost.staged);
    } else if (now.how == way::lent) {
      ++lent;
    }
  }
  return lent;
}

/// After so many both ways were tried.
constexpr int first = 10;

TEST_CASE("until both ways are known the usual one is taken") {
  for (const way usual : {way::staged, way::lent}) {
    timed_lending lending;
    for (int i = 0; i < first; ++i) {
      const timed_lending::choice now = lending.next(usual);
      CHECK((now.is_trial || now.how == usual));
    }
    CHECK_FALSE(lending.knows_both());
  }
}

TEST_CASE("what costs clearly less is taken from then on, but for trials") {
  timed_lending lending;
  count_lent(lending, way::staged, {.staged = 2, .lent = 1}, first);
  CHECK(lending.knows_both());
  // At first one call of 8 is a trial, later one of 32.
  CHECK(count_lent(lending, way::staged, {.staged = 2, .lent = 1}, 250) == 219);
  CHECK(count_lent(lending, way::staged, {.staged = 2, .lent = 1}, 640) == 620);
  timed_lending other;
  count_lent(other, way::lent, {.staged = 1, .lent = 2}, first);
  CHECK(count_lent(other, way::lent, {.staged = 1, .lent = 2}, 640) == 0);
}

TEST_CASE("where there is little between them the usual one is taken") {
  timed_lending lending;
  CHECK(count_lent(lending, way::staged, {.staged = 1, .lent = 0.95}, 1000) == 0);
}

TEST_CASE("what becomes better is found out") {
  timed_lending lending;
  count_lent(lending, way::staged, {.staged = 1, .lent = 2}, 1000);
  count_lent(lending, way::staged, {.staged = 8, .lent = 2}, 1000);
  CHECK(count_lent(lending, way::staged, {.staged = 8, .lent = 2}, 640) == 620);
}

TEST_CASE("an operation that was disturbed changes little") {
  timed_lending lending;
  count_lent(lending, way::staged, {.staged = 2, .lent = 1}, 1000);
  lending.learn(way::lent, 1000);
  lending.learn(way::lent, 1);
  CHECK(count_lent(lending, way::staged, {.staged = 2, .lent = 1}, 640) == 620);
}

TEST_CASE("collectives and sizes are told apart, sizes by powers of two") {
  timed_lendings all;
  constexpr std::size_t least = machine::least_unstaged_bytes;
  CHECK(&all.of(collective::alltoall, least) == &all.of(collective::alltoall, 2 * least - 1));
  CHECK(&all.of(collective::alltoall, least) != &all.of(collective::alltoall, 2 * least));
  CHECK(&all.of(collective::alltoall, least) != &all.of(collective::scatter, least));
  CHECK(&all.of(collective::alltoall, least << 20) == &all.of(collective::alltoall, least << 40));
}

}  // namespace
}  // namespace muster::testing
