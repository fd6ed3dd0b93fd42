#include "tools/report/profile_report.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/says.hpp"
#include "tests/tools/command/arrivals/made_up.hpp"

namespace muster::testing {
namespace {

using profile::put_together;
using profile::table;

TEST_CASE("report: a line a site") {
  const std::string text = table(put_together(one_call()));
  CHECK(says(text,
             "bcast(300 x byte, root 0): srm        1    300 B  0.40 µs     1.50     1.50     "
             "4.50     4.50  1.20 µs     83 %     rank 3, 100 %\n"));
  CHECK(!says(text, "no record"));
}

TEST_CASE("report: what the figures do not cover is said") {
  auto records = one_call();
  records.pop_back();
  for (auto& one : records) one.sites[0].calls = 70;
  records[0].left_out = 5;
  std::string text = table(put_together(records));
  CHECK(says(text, "  3 of 4 ranks  1 kept\n"));
  CHECK(says(text, "no record of rank 3\n"));
  CHECK(says(text, "5 calls of further call sites were not recorded"));
  for (auto& one : records) one.sites[0].kept[0].failed = true;
  text = table(put_together(records));
  CHECK(says(text, "1 failed"));
  CHECK(says(text, "µs        -  3 of 4 ranks"));
}

TEST_CASE("report: how well clocks of hosts are known is said") {
  auto records = one_call();
  CHECK(!says(table(put_together(records)), "times of different hosts"));
  CHECK(!to_json(put_together(records)).contains("clock_error_ns"));
  for (auto& one : records) {
    one.clock = {.offset_ns = 0, .error_ns = one.rank == 0 ? 2'000 : 10'000};
  }
  CHECK(
      says(table(put_together(records)),
           "times of different hosts are right to each other within 12.0 µs, at the beginning\n"));
  CHECK(to_json(put_together(records))["clock_error_ns"] == 12'000);
}

TEST_CASE("report: JSON has the same, and delays to replay") {
  const auto json = to_json(put_together(one_call()));
  CHECK(json["ranks"] == 4);
  CHECK(json["missing"].empty());
  const auto& one = json["sites"].at(0);
  CHECK(one["call"] == "bcast(300 x byte, root 0)");
  CHECK(one["algorithm"] == "srm");
  CHECK(one["ranks"].get<std::vector<int>>() == std::vector<int>{0, 1, 2, 3});
  CHECK(one["bytes"] == 300);
  CHECK(one["message_time_ns"] == 400);
  CHECK(one["average_case_imbalance_factor"]["mean"] == 1.5);
  CHECK(one["worst_case_imbalance_factor"]["most"] == 4.5);
  CHECK(one["last_rank"] == 3);
  CHECK(json["unit"] == "ns");
  CHECK(json["delays"].dump() == "[[0,400,1000,1800]]");
}

TEST_CASE("report: JSON has how late each rank came to each call") {
  const auto cells = to_json(put_together(one_call()))["sites"].at(0)["lateness"];
  CHECK(cells["ranks"] == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(cells["first_call"].dump() == "[1]");
  CHECK(cells["first_arrival_ns"].dump() == "[0]");
  CHECK(cells["ns"].dump() == "[[0.0],[400.0],[1000.0],[1800.0]]");
}

TEST_CASE("report: many calls and ranks share cells") {
  std::vector<profile::rank_record> records;
  for (std::size_t rank = 0; rank < 100; ++rank) {
    std::vector<arrival_log::call> calls;
    for (std::int64_t i = 0; i < 1000; ++i) {
      calls.push_back(call_at(static_cast<std::uint64_t>(i + 1), i * 1000, i * 1000 + 500));
    }
    auto one = site_of(rank, calls);
    one.ranks = 100;
    records.push_back(record_of(rank, {one}));
    records.back().ranks = 100;
  }
  const auto cells = to_json(put_together(records))["sites"].at(0)["lateness"];
  CHECK(cells["ranks"].size() == 32);
  CHECK(cells["ranks"][0] == "0–2");
  CHECK(cells["ns"].size() == 32);
  CHECK(cells["ns"][0].size() == 100);
  CHECK(cells["first_call"][1] == 11);
  CHECK(cells["first_arrival_ns"][1] == 10000);
}

TEST_CASE("report: the eight sites with the most time say how late ranks came") {
  std::vector<arrival_log::site> many;
  for (int i = 0; i < 9; ++i) {
    many.push_back(site_of(0, {call_at(1, 0, 10)}));
    many.back().fingerprint = static_cast<std::uint64_t>(i);
  }
  const auto sites = to_json(put_together(std::vector{record_of(0, many)}))["sites"];
  REQUIRE(sites.size() == 9);
  CHECK(sites[7].contains("lateness"));
  CHECK(!sites[8].contains("lateness"));
}

TEST_CASE("report: nothing recorded has no sites") {
  auto records = one_call();
  for (auto& one : records) one.sites.clear();
  CHECK(to_json(put_together(records))["sites"].empty());
}

}  // namespace
}  // namespace muster::testing
