#include "tools/command/sim/report.hpp"
#include "tests/support/says.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace muster::simulator {
namespace {

job four_ranks() {
  job how;
  how.model.name = "made_up";
  how.model.description = "Two <nodes>.";
  how.nodes = 2;
  how.ranks_a_node = 2;
  how.seed = 7;
  return how;
}

result measured(const point& at, double us) {
  result one;
  one.at = at;
  one.algorithm = "pairwise";
  one.payload = true;
  one.verified = true;
  one.times_us = {us, us};
  one.median_us = us;
  one.busiest_node.sends = 12;
  one.busiest_node.memory = 131072;
  one.waiting_us = {1, 3};
  one.events = 99;
  return one;
}

using testing::says;

TEST_CASE("report: rows tell who ran, or why nobody did") {
  result one = measured({collective::alltoall, 8, "auto"}, 4.5);
  CHECK(says(table_row(one), "8 B  auto: pairwise"));
  CHECK(says(table_row(one), "4.50 µs       12"));
  CHECK(says(table_row(one), "128 KiB  2.00 µs  3.00 µs"));
  one.verified = false;
  CHECK(says(table_row(one), "WRONG RESULTS"));
  one.payload = false;
  CHECK(!says(table_row(one), "WRONG RESULTS"));

  result other;
  other.at = {collective::alltoall, 8, "flat"};
  other.failure = "rank 1: broken\nsecond line";
  CHECK(says(table_row(other), "failed: rank 1: broken"));
  CHECK(!says(table_row(other), "second line"));
  other.suits = false;
  CHECK(says(table_row(other), "does not suit"));
}

TEST_CASE("report: headings name machine, ranks, arrivals and seed") {
  job how = four_ranks();
  CHECK(describe(how) == "made_up, 2 nodes x 2 ranks, seed 7");
  how.late = arrivals::parse("random:mif=8");
  how.nodes = 1;
  CHECK(describe(how) == "made_up, 1 node x 2 ranks, arrivals random:mif=8, seed 7");
  CHECK(says(table_head(how, collective::alltoall), "bytes a block"));
  CHECK(!says(table_head(how, collective::bcast), "bytes a block"));
}

TEST_CASE("report: JSON has what was asked, and figures only where there are some") {
  const job how = four_ranks();
  const auto one = to_json(how, measured({collective::alltoall, 8, "auto"}, 4.5));
  CHECK(one["collective"] == "alltoall");
  CHECK(one["asked"] == "auto");
  CHECK(one["algorithm"] == "pairwise");
  CHECK(one["machine"] == "made_up");
  CHECK(one["ranks"] == 4);
  CHECK(one["seed"] == 7);
  CHECK(one["arrivals"].is_null());
  CHECK(one["median_us"] == 4.5);
  CHECK(one["verified"] == true);
  CHECK(one["a_call_busiest_node"]["sends"] == 12);
  CHECK(one["waiting_mean_us"] == 2);
  CHECK(one["waiting_us"].size() == 2);

  result none;
  none.failure = "rank 1: broken";
  const auto other = to_json(how, none);
  CHECK(other["median_us"].is_null());
  CHECK(other["verified"].is_null());
  CHECK(other["failure"] == "rank 1: broken");
}

TEST_CASE("report: the waiting of each of very many ranks") {
  result one = measured({collective::barrier, 0, "auto"}, 1);
  one.waiting_us.assign(7168, 2.5);
  const auto object = to_json(four_ranks(), one);
  CHECK(object["waiting_us"].size() == 7168);
  CHECK(object["waiting_mean_us"] == 2.5);
}

TEST_CASE("report: times alone, without what a call was made of") {
  const auto all =
      times_to_json(four_ranks(), std::vector{measured({collective::bcast, 8, "srm"}, 2)});
  CHECK(all.at(0)["asked"] == "srm");
  CHECK(all.at(0)["median_us"] == 2);
  CHECK(!all.at(0).contains("a_call"));
  CHECK(!all.at(0).contains("waiting_us"));
}

}  // namespace
}  // namespace muster::simulator
