#include "tools/mpi/report.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/tools/mpi/usage.hpp"

namespace muster::testing {
namespace {

using mpi::balance;
using mpi::kind;
using mpi::summary;
using mpi::usage;
using mpi::usages;

TEST_CASE("report: calls of all routines and forms have numbers") {
  for (std::uint64_t number = 0; number < mpi::routines * mpi::forms; ++number) {
    CHECK(kind::numbered(number).number() == number);
  }
  CHECK(ialltoall.name() == "ialltoall");
}

TEST_CASE("report: what a process tells, another reads") {
  usages all;
  all[alltoall] = taken_by("pairwise", 30);
  all[alltoall].algorithms["bruck"] = 12;
  all[alltoall].reasons["ranks on several machines"] = 7;
  all[alltoall].reasons["intercommunicator"] = 2;
  all[ialltoall].reasons["not in MUSTER_ENABLE"] = 1;
  all[ialltoall].arrivals = balance{5, 0.25, 1.5, 12, 2500};
  const usages read = mpi::parse_usages(to_text(all));
  REQUIRE(read.size() == 2);
  const usage& first = read.at(alltoall);
  CHECK(first.taken == 30);
  CHECK(first.bytes == 30 * 1024);
  CHECK(first.nanoseconds == 60000);
  CHECK(first.algorithms == all[alltoall].algorithms);
  CHECK(first.reasons == all[alltoall].reasons);
  CHECK(first.left() == 9);
  CHECK(first.calls() == 39);
  CHECK(!first.arrivals);
  const usage& second = read.at(ialltoall);
  CHECK(second.reasons == all[ialltoall].reasons);
  REQUIRE(second.arrivals);
  CHECK(second.arrivals->calls == 5);
  CHECK(second.arrivals->average_case == 0.25);
  CHECK(second.arrivals->worst_case == 1.5);
  CHECK(second.arrivals->most == 12);
  CHECK(second.arrivals->time_ns == 2500);
  CHECK(mpi::parse_usages("").empty());
}

TEST_CASE("report: a balance weighs as many calls as it is of") {
  balance all;
  all.add({});
  CHECK(all.worst_case == 0);
  all.add({1, 2, 4, 8, 100});
  all.add({3, 6, 8, 8, 500});
  CHECK(all.calls == 4);
  CHECK(all.average_case == 5);
  CHECK(all.worst_case == 7);
  CHECK(all.most == 8);
  CHECK(all.time_ns == 400);
}

TEST_CASE("report: calls of all ranks are summed, and those of a rank bounded") {
  summary all;
  all.add_rank({{alltoall, taken_by("pairwise", 10)}, {ialltoall, taken_by("bruck", 1)}});
  all.add_rank({{alltoall, taken_by("pairwise", 4)}});
  all.add_rank({{alltoall, taken_by("bruck", 12)}});
  all.add_rank_without();
  CHECK(all.ranks == 4);
  CHECK(all.without == 1);
  const summary::line& one = all.lines.at(alltoall);
  CHECK(one.ranks == 3);
  CHECK(one.least == 4);
  CHECK(one.most == 12);
  CHECK(one.sum.taken == 26);
  CHECK(one.sum.bytes == 26 * 1024);
  CHECK(one.sum.algorithms == mpi::ways{{"bruck", 12}, {"pairwise", 14}});
  CHECK(all.lines.at(ialltoall).ranks == 1);
}

}  // namespace
}  // namespace muster::testing
