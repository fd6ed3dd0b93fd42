// Whether a claim comes out, from made-up measurements.

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "algos/catalog.hpp"
#include "tests/support/says.hpp"
#include "tools/study/reproduce/claim.hpp"
#include "tools/study/reproduce/page.hpp"

namespace muster::reproduce {
namespace {

using muster::testing::says;
using kind = claim::kind;

simulator::result took(std::size_t bytes, double us) {
  simulator::result one;
  one.at = {collective::alltoall, bytes, "any"};
  one.times_us = {us};
  one.median_us = us;
  return one;
}

/// Of `fast` and `slow` at 8, 64 and 512 bytes.
all_measurements made_up() {
  measurements made({.name = "made-up",
                     .title = "Made up",
                     .machine = "hdr100",
                     .what = collective::alltoall,
                     .sizes = {8, 64, 512},
                     .contenders = {{"fast", "flat"}, {"slow", "pairwise"}}});
  made.add("fast", took(8, 1));
  made.add("slow", took(8, 2));
  made.add("fast", took(64, 2));
  made.add("slow", took(64, 4));
  made.add("fast", took(512, 9));
  made.add("slow", took(512, 8));
  return {{"made-up", made}};
}

claim about(kind what, std::size_t from, std::size_t to, double least, double most = 1) {
  claim one;
  one.what = what;
  one.experiment = "made-up";
  one.winner = "fast";
  one.other = "slow";
  one.from = from;
  one.to = to;
  one.least = least;
  one.most = most;
  one.reason = "because";
  return one;
}

TEST_CASE("a factor holds within a quarter of the paper's, and the order by itself") {
  CHECK(check(about(kind::factor, 8, 8, 2.0), made_up()).came_out == verdict::holds);
  CHECK(check(about(kind::factor, 8, 8, 1.65), made_up()).came_out == verdict::holds);
  CHECK(check(about(kind::factor, 8, 8, 3.0), made_up()).came_out == verdict::factor_differs);
  const outcome lost = check(about(kind::factor, 512, 512, 2.0), made_up());
  CHECK(lost.came_out == verdict::fails);
  CHECK(lost.ours == "0.89x");
  CHECK(lost.reason == "because");
  CHECK(check(about(kind::factor, 8, 8, 2.0), made_up()).reason.empty());
}

TEST_CASE("best is best at every size of the range") {
  CHECK(check(about(kind::best, 8, 64, 1), made_up()).came_out == verdict::holds);
  const outcome lost = check(about(kind::best, 8, 512, 1), made_up());
  CHECK(lost.came_out == verdict::fails);
  CHECK(says(lost.ours, "512 B: slow by 11 %"));
}

TEST_CASE("ahead is ahead at so many of the sizes") {
  CHECK(check(about(kind::ahead, 8, 64, 1), made_up()).came_out == verdict::holds);
  CHECK(check(about(kind::ahead, 8, 512, 0.5), made_up()).came_out == verdict::holds);
  const outcome lost = check(about(kind::ahead, 8, 512, 1), made_up());
  CHECK(lost.came_out == verdict::fails);
  CHECK(says(lost.ours, "at 2 of 3 sizes, not at 512 B"));
}

TEST_CASE("a saving is meant of each size, or of their mean") {
  CHECK(check(about(kind::saving, 8, 64, 0.5, 0.5), made_up()).came_out == verdict::holds);
  CHECK(check(about(kind::saving, 8, 64, 0.1, 0.2), made_up()).came_out == verdict::factor_differs);
  CHECK(check(about(kind::saving, 8, 512, 0.1, 0.6), made_up()).came_out == verdict::fails);
  claim mean = about(kind::saving, 8, 512, 0.25, 0.35);
  mean.on_average = true;
  CHECK(check(mean, made_up()).came_out == verdict::holds);
}

TEST_CASE("a claim on what was not measured says so") {
  CHECK_THROWS(check(about(kind::factor, 4096, 4096, 2.0), made_up()));
}

TEST_CASE("every claim is about an experiment that there is, and its contenders") {
  std::map<std::string, experiment> known;
  for (const experiment& one : experiments()) known.emplace(one.name, one);
  for (const claim& one : claims()) {
    REQUIRE_MESSAGE(known.contains(one.experiment), one.experiment);
    const experiment& of = known.at(one.experiment);
    const auto competes = [&](const std::string& label) {
      return std::ranges::any_of(of.contenders,
                                 [&](const contender& each) { return each.label == label; });
    };
    CHECK_MESSAGE(competes(one.winner), one.experiment, ": ", one.winner);
    if (!one.other.empty()) CHECK_MESSAGE(competes(one.other), one.experiment, ": ", one.other);
    if (one.what == kind::factor) {
      CHECK_MESSAGE(std::ranges::find(of.sizes, one.from) != of.sizes.end(), one.says);
    }
  }
}

TEST_CASE("every contender is an algorithm that there is") {
  for (const experiment& one : experiments()) {
    for (const contender& each : one.contenders) {
      const std::string id = each.choice.substr(0, each.choice.find(':'));
      const bool known = std::ranges::any_of(algos::catalog(), [&](const algorithm& row) {
        return row.what == one.what && row.id == id;
      });
      CHECK_MESSAGE(known, one.name, ": ", id);
    }
  }
}

TEST_CASE("the page has every outcome and figure") {
  const outcome good = check(about(kind::factor, 8, 8, 2.0), made_up());
  const outcome bad = check(about(kind::factor, 512, 512, 2.0), made_up());
  const outcome both[] = {good, bad};
  const experiment figures[] = {made_up().at("made-up").of()};
  const std::string text = page(both, figures);
  CHECK(says(text, "1 of 2 claims hold, of 0 more the order does, 1 do not come out"));
  CHECK(says(text, "| because |"));
  CHECK(says(text, "![Made up](made-up.svg)"));
}

}  // namespace
}  // namespace muster::reproduce
