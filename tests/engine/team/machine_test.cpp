#include <muster/team/machine.hpp>

#include <doctest/doctest.h>

#include <muster/team/topology.hpp>

namespace muster::testing {
namespace {

machine with_speeds(double staged, double foreign) {
  machine seen;
  seen.foreign_allowed = true;
  seen.foreign_call_ns = 1000;
  seen.cache_bytes = 1 << 20;
  seen.in_cache = {.staged = staged, .foreign = foreign};
  seen.beyond_cache = {.staged = staged / 2, .foreign = foreign};
  return seen;
}

TEST_CASE("where the kernel may not copy, it never does") {
  machine seen = with_speeds(1, 100);
  seen.foreign_allowed = false;
  CHECK(seen.foreign_from(1, 0) == machine::never);
  seen.foreign_by_hand = 1;
  CHECK(seen.foreign_from(1, 0) == machine::never);
}

TEST_CASE("the kernel copies blocks that repay its call") {
  // 1 ns a byte staged, 0.5 by the kernel: a call of 1000 ns pays from 2000 bytes on, but notices
  // have their price too.
  CHECK(with_speeds(1, 2).foreign_from(1, 0) == 16 * 1024);
  // 0.1 ns a byte against 0.095: 1000 ns pay from 200 000 bytes on.
  const std::size_t from = with_speeds(10, 1 / 0.095).foreign_from(1, 0);
  CHECK(from > 199'000);
  CHECK(from < 201'000);
}

TEST_CASE("with more readers staging once for all wins") {
  const machine seen = with_speeds(10, 12);
  CHECK(seen.foreign_from(1, 0) != machine::never);
  CHECK(seen.foreign_from(7, 0) == machine::never);
}

TEST_CASE("what exceeds the cache is judged by the speeds beyond it") {
  const machine seen = with_speeds(20, 15);
  CHECK(seen.foreign_from(1, 1 << 20) == machine::never);
  CHECK(seen.foreign_from(1, (1 << 20) + 1) != machine::never);
}

TEST_CASE("a choice by hand is taken") {
  machine seen = with_speeds(100, 1);
  seen.foreign_by_hand = 12345;
  CHECK(seen.foreign_from(3, 0) == 12345);
}

TEST_CASE("the topology of this machine gives every rank a place") {
  const topology here = topology::read();
  REQUIRE_FALSE(here.cores().empty());
  CHECK(here.processors() >= here.cores().size());
  const auto bound = here.places(5, 2, true);
  REQUIRE(bound.size() == 5);
  CHECK(bound[0].core == here.cores()[0].where.core);
  CHECK(bound[0].core != place::unknown);
  CHECK(bound[2].node == 0);
  CHECK(bound[3].node == 1);
  if (here.cores().size() > 1) CHECK(here.places(5, 1, false)[0].core == place::unknown);
}

}  // namespace
}  // namespace muster::testing
