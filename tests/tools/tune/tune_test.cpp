// Tables: from winners, to files and back.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "algos/catalog.hpp"
#include "engine/error.hpp"
#include "tests/support/says.hpp"
#include "tools/tune/picture.hpp"
#include "tools/tune/table.hpp"
#include "tools/tune/tune.hpp"

namespace muster::tune {
namespace {

using muster::testing::says;

constexpr std::size_t without_end = selection_table::range{}.last;

winner won(std::size_t nodes, std::size_t bytes, const std::string& algorithm, double us,
           const std::string& second = "", double second_us = 0) {
  return {.at = {collective::alltoall, nodes, 4, bytes},
          .algorithm = algorithm,
          .us = us,
          .second = second,
          .second_us = second_us};
}

TEST_CASE("sizes with one winner become one rule, and the last is without end") {
  const selection_table table =
      make_table({won(1, 8, "flat", 1), won(1, 64, "flat", 2),
                  won(1, 512, "pairwise", 3, "flat", 4), won(2, 8, "bruck", 5)});
  REQUIRE(table.rules().size() == 3);
  CHECK(table.rules()[0].algorithm == "flat");
  CHECK(table.rules()[0].bytes.first == 0);
  CHECK(table.rules()[0].bytes.last == 64);
  CHECK(table.rules()[0].nodes.last == 1);
  CHECK(table.rules()[1].algorithm == "pairwise");
  CHECK(table.rules()[1].bytes.first == 65);
  CHECK(table.rules()[1].bytes.last == without_end);
  CHECK(table.rules()[2].nodes.first == 2);
  CHECK(table.rules()[2].nodes.last == without_end);
}

TEST_CASE("an algorithm gives way only to one that is faster by more than a little") {
  const selection_table table =
      make_table({won(1, 8, "flat", 1), won(1, 64, "pairwise", 1.00, "flat", 1.01),
                  won(1, 512, "pairwise", 1.0, "flat", 1.5)});
  REQUIRE(table.rules().size() == 2);
  CHECK(table.rules()[0].bytes.last == 64);
}

TEST_CASE("the fastest and the second are found, among all options") {
  const stopwatch time = [](const spot&, const std::string& algorithm) -> std::optional<double> {
    if (algorithm == "smp_direct:ports=4") return 1;
    if (algorithm == "leader_ring") return 2;
    if (algorithm == "flat") return std::nullopt;
    return 3;
  };
  const winner best = fastest({collective::allgather, 2, 4, 64}, algos::catalog(), time);
  CHECK(best.algorithm == "smp_direct:ports=4");
  CHECK(best.us == 1);
  CHECK(best.second == "leader_ring");
}

TEST_CASE("a table goes to JSON and back") {
  const selection_table table({{.what = collective::bcast,
                                .nodes = {1, 3},
                                .bytes = {65, without_end},
                                .algorithm = "srm"}});
  const std::string text = to_json(table, "here");
  const selection_table again = parse_table(text, "text");
  REQUIRE(again.rules().size() == 1);
  CHECK(again.rules()[0].what == collective::bcast);
  CHECK(again.rules()[0].nodes.last == 3);
  CHECK(again.rules()[0].ranks_a_node.last == without_end);
  CHECK(again.rules()[0].bytes.first == 65);
  CHECK(again.rules()[0].bytes.last == without_end);
  CHECK(again.rules()[0].algorithm == "srm");
}

std::string refusal(const std::string& text) {
  try {
    parse_table(text, "mine.json");
  } catch (const error& why) {
    return why.text();
  }
  return "";
}

TEST_CASE("what is wrong with a table is said with its place") {
  CHECK(says(refusal("nonsense"), "mine.json: the file: expected JSON"));
  CHECK(says(refusal(R"({"rules": [3]})"), "mine.json: rule 1: expected an object"));
  CHECK(says(refusal(R"({"rules": [{"collective": "sum", "algorithm": "flat"}]})"),
             "rule 1: collective: expected one of barrier, bcast"));
  CHECK(says(refusal(R"({"rules": [{"collective": "bcast"}]})"), "rule 1: algorithm: expected"));
  CHECK(says(refusal(R"({"rules": [{"collective": "bcast", "bytes": [9, 3],
                                    "algorithm": "flat"}]})"),
             "rule 1: bytes: ends before it begins"));
  CHECK(says(refusal(R"({"rules": [{"collective": "bcast", "bytes": 9, "algorithm": "flat"}]})"),
             "rule 1: bytes: expected [first, last]"));
  CHECK_THROWS_AS(read_table("/nowhere/table.json"), error);
}

TEST_CASE("the picture names every winner") {
  const std::string drawn =
      draw_winners("a.svg", "a machine", {won(1, 8, "flat", 1), won(2, 64, "bruck:ports=2", 2)});
  CHECK(says(drawn, "flat"));
  CHECK(says(drawn, "bruck:ports=2"));
  CHECK(says(drawn, "2 x 4 ranks"));
}

}  // namespace
}  // namespace muster::tune
