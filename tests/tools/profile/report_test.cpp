#include "tools/profile/report.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/says.hpp"
#include "tests/tools/profile/made_up.hpp"

namespace muster::testing {
namespace {

using profile::draw;
using profile::put_together;
using profile::table;

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

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

TEST_CASE("report: the picture has a cell for each rank and call, and says how late it was") {
  const std::string text = draw("one.svg", put_together(one_call()));
  CHECK(says(text, "Who arrived when: 4 ranks"));
  CHECK(says(text, "bcast(300 x byte, root 0): srm"));
  CHECK(count(text, "<g><title>rank ") == 4);
  CHECK(says(text, "<title>rank 3, operation 1: 1.80 µs behind the first</title>"));
  CHECK(says(draw("one.html", put_together(one_call())), "<!doctype html>"));
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
  const std::string text = draw("one.svg", put_together(records));
  CHECK(count(text, "<g><title>rank ") == 3200);
  CHECK(
      says(text, "<title>rank 0–2, operations 1–10: 0.00 µs behind the first on average</title>"));
}

TEST_CASE("report: nothing recorded is drawn as such") {
  auto records = one_call();
  for (auto& one : records) one.sites.clear();
  CHECK(says(draw("one.svg", put_together(records)), "No call has a record"));
  CHECK(to_json(put_together(records))["sites"].empty());
}

}  // namespace
}  // namespace muster::testing
