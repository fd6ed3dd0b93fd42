#include "tools/report/profile.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/tools/command/arrivals/made_up.hpp"

namespace muster::testing {
namespace {

using profile::job;
using profile::put_together;
using profile::rank_record;
using profile::site;

TEST_CASE("profile: the imbalance of a call, by hand") {
  const job all = put_together(one_call());
  REQUIRE(all.sites.size() == 1);
  const site& one = all.sites[0];
  CHECK(one.calls == 1);
  CHECK(one.bytes == 300);
  CHECK(one.message_time.count() == 400);
  REQUIRE(one.kept.size() == 1);
  CHECK(one.kept[0].average_case_ns() == 600);
  CHECK(one.kept[0].worst_case_ns() == 1800);
  CHECK(one.figures.average_case.mean == 1.5);
  CHECK(one.figures.average_case.most == 1.5);
  CHECK(one.figures.worst_case.mean == 4.5);
  // In the call for 2000, 1600, 1000 and 200; before the last came for 1800, 1400, 800 and 0.
  CHECK(one.figures.time_in_call_ns == 1200);
  CHECK(one.figures.waiting_share == doctest::Approx(4000.0 / 4800));
  CHECK(one.figures.last_rank == 3);
  CHECK(one.figures.last_share == 1);
  CHECK(one.total_ns() == 4800);
  CHECK(all.missing.empty());
}

TEST_CASE("profile: clocks of several machines are related first") {
  auto records = one_call();
  CHECK(!put_together(records).clock_error_ns);
  // Ranks 2 and 3 are on a machine whose clock is far behind.
  for (rank_record& one : records) {
    const bool is_behind = one.rank >= 2;
    one.clock = {.offset_ns = is_behind ? 7'000'000'010 : 10, .error_ns = is_behind ? 300 : 40};
    arrival_log::call& only = one.sites[0].kept[0];
    only.arrived -= one.clock->offset_ns;
    only.left -= one.clock->offset_ns;
  }
  const job all = put_together(records);
  REQUIRE(all.sites.size() == 1);
  REQUIRE(all.sites[0].kept.size() == 1);
  CHECK(all.sites[0].kept[0].average_case_ns() == 600);
  CHECK(all.sites[0].kept[0].worst_case_ns() == 1800);
  CHECK(all.sites[0].figures.time_in_call_ns == 1200);
  CHECK(all.clock_error_ns == 340);
  // One machine's ranks have one clock, whatever it is.
  for (rank_record& one : records) one.clock = records[3].clock;
  CHECK(!put_together(records).clock_error_ns);
}

TEST_CASE("profile: mean and most over calls; who left before the last came waited till then") {
  std::vector<rank_record> records;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    // All together; then rank 0 comes and goes 800 before the others; then rank 1 is late by 400.
    const std::int64_t second = rank == 0 ? 1000 : 1800;
    const std::int64_t third = rank == 1 ? 3400 : 3000;
    records.push_back(
        record_of(rank, {site_of(rank, {call_at(1, 0, 100), call_at(2, second, second + 100),
                                        call_at(5, third, 3500)})}));
  }
  const site one = put_together(records).sites.at(0);
  REQUIRE(one.kept.size() == 3);
  CHECK(one.kept[2].sequence == 5);
  // Δ: 0, 800, 400 over 400.
  CHECK(one.figures.worst_case.mean == 1);
  CHECK(one.figures.worst_case.most == 2);
  // The distances from the mean: 0; 600 and three times 200; 300 and three times 100.
  CHECK(one.figures.average_case.mean == doctest::Approx((300 + 150) / 3.0 / 400));
  CHECK(one.figures.average_case.most == doctest::Approx(0.75));
  // In the calls: 4 x 100, 4 x 100, 3 x 500 + 100; waiting: 0, 100, 3 x 400.
  CHECK(one.figures.time_in_call_ns == doctest::Approx(2400.0 / 12));
  CHECK(one.figures.waiting_share == doctest::Approx(1300.0 / 2400));
}

TEST_CASE("profile: calls that failed, or that a rank has no record of, count for no figure") {
  std::vector<rank_record> records;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    std::vector<arrival_log::call> calls = {call_at(1, 0, 100), call_at(2, 500, 600)};
    if (rank != 2) calls.push_back(call_at(3, 1000, 9000, rank == 1));
    if (rank == 3) calls.push_back(call_at(4, 10'000, 10'001));
    records.push_back(record_of(rank, {site_of(rank, calls)}));
  }
  const site one = put_together(records).sites.at(0);
  CHECK(one.calls == 4);
  CHECK(one.failed == 1);
  CHECK(one.kept.size() == 2);
  CHECK(one.figures.time_in_call_ns == 100);
}

TEST_CASE("profile: of a rank without a record the others tell what they can") {
  std::vector<rank_record> records = one_call();
  records.erase(records.begin() + 2);
  const job all = put_together(records);
  CHECK(all.missing == std::vector<std::size_t>{2});
  const site& one = all.sites.at(0);
  CHECK(one.ranks == std::vector<std::size_t>{0, 1, 3});
  CHECK(one.team_size == 4);
  REQUIRE(one.kept.size() == 1);
  CHECK(one.figures.worst_case.mean == 4.5);
}

TEST_CASE("profile: teams are apart, their ranks in their own order, the costly sites first") {
  std::vector<rank_record> records = one_call();
  for (const std::size_t rank : {1, 3}) {
    auto one = site_of(rank, {call_at(1, 5000, 15'000 + 1000 * static_cast<std::int64_t>(rank))});
    one.team = 0x77;
    one.ranks = 2;
    one.rank = rank == 3 ? 0 : 1;
    records[rank].sites.push_back(one);
  }
  const job all = put_together(records);
  REQUIRE(all.sites.size() == 2);
  CHECK(all.sites[0].team == 0x77);
  CHECK(all.sites[0].ranks == std::vector<std::size_t>{3, 1});
  CHECK(all.sites[0].kept.at(0).ranks.at(0).left == 18'000);
  CHECK(all.sites[1].team == 0);
}

TEST_CASE("profile: lists of ranks") {
  using list = std::vector<std::size_t>;
  CHECK(profile::list_ranks(list{}) == "");
  CHECK(profile::list_ranks(list{4}) == "4");
  CHECK(profile::list_ranks(list{0, 1}) == "0, 1");
  CHECK(profile::list_ranks(list{0, 1, 2, 5, 7, 8, 9}) == "0-2, 5, 7-9");
  CHECK(profile::list_ranks(list{3, 1}) == "3, 1");
}

}  // namespace
}  // namespace muster::testing
