// Tables: from winners, to files and back.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include <muster/base/error.hpp>

#include "algos/catalog.hpp"
#include "tests/support/says.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/library/table.hpp"
#include "tools/mpi/left_to_mpi.hpp"

namespace muster::tune {
namespace {

using muster::testing::says;

constexpr std::size_t without_end = selection_table::range{}.last;

winner won(std::size_t nodes, std::size_t bytes, const std::string& algorithm, double us,
           const std::string& second = "", double second_us = 0, double automatic_us = 0) {
  return {.at = {collective::alltoall, nodes, 4, bytes},
          .algorithm = algorithm,
          .us = us,
          .second = second,
          .second_us = second_us,
          .automatic_us = automatic_us};
}

TEST_CASE("sizes with one winner become one rule, and the last is without end") {
  const selection_table table =
      make_table({won(1, 8, "flat", 1), won(1, 64, "flat", 2),
                  won(1, 512, "pairwise", 3, "flat", 4), won(2, 8, "bruck", 5)});
  REQUIRE(table.rules().size() == 3);
  CHECK(table.rules()[0].algorithm == "flat");
  CHECK(table.rules()[0].bytes.first == 0);
  CHECK(table.rules()[0].bytes.last == 64);
  CHECK(table.rules()[0].nodes.first == 1);
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
  const auto time_of = [](const std::string& algorithm) -> std::optional<double> {
    if (algorithm == "auto") return 0.5;
    if (algorithm == "smp_direct:ports=4") return 1;
    if (algorithm == "leader_ring") return 2;
    if (algorithm == "flat") return std::nullopt;
    return 3;
  };
  const stopwatch time = [&](const spot&, std::span<const std::string> algorithms) {
    times taken;
    for (const std::string& each : algorithms) taken.push_back(time_of(each));
    return taken;
  };
  const winner best = fastest({collective::allgather, 2, 4, 64}, algos::catalog(), time);
  CHECK(best.algorithm == "smp_direct:ports=4");
  CHECK(best.us == 1);
  CHECK(best.second == "leader_ring");
  CHECK(best.automatic_us == 0.5);
}

TEST_CASE("where selection without a table is as good there is no rule") {
  const selection_table table =
      make_table({won(1, 8, "flat", 1, "bruck", 2, 1.5), won(1, 64, "flat", 2, "bruck", 3, 2.01),
                  won(1, 512, "flat", 3, "bruck", 4, 5)});
  REQUIRE(table.rules().size() == 2);
  CHECK(table.rules()[0].bytes.last == 8);
  CHECK(table.rules()[1].bytes.first == 65);
}

TEST_CASE("the largest number of nodes tried stands for more, whatever was tried with more ranks") {
  const auto with_ranks = [](winner of, std::size_t ranks) {
    of.at.ranks_a_node = ranks;
    return of;
  };
  const selection_table table = make_table(
      {won(2, 8, "flat", 1), won(8, 8, "bruck", 1), with_ranks(won(2, 8, "ring", 1), 9)});
  REQUIRE(table.rules().size() == 3);
  CHECK(table.rules()[1].nodes.first == 3);
  CHECK(table.rules()[1].nodes.last == without_end);
  CHECK(table.rules()[1].ranks_a_node.first == 4);
  CHECK(table.rules()[1].ranks_a_node.last == 4);
  CHECK(table.rules()[2].nodes.first == 2);
  CHECK(table.rules()[2].nodes.last == without_end);
  CHECK(table.rules()[2].ranks_a_node.first == 5);
}

TEST_CASE(
    "where the MPI is faster by more than a little a rule before the others leaves calls to it") {
  const auto with_mpi = [](winner of, double us) {
    of.mpi_us = us;
    return of;
  };
  const selection_table table = make_table({
      with_mpi(won(2, 8, "flat", 1, "bruck", 2), 0.97),
      with_mpi(won(2, 64, "flat", 1, "bruck", 2), 0.5),
      with_mpi(won(2, 512, "bruck", 1, "flat", 2), 0.6),
      with_mpi(won(2, 4096, "bruck", 1, "flat", 2, 1.01), 1.2),
      with_mpi(won(4, 8, "flat", 1, "bruck", 2, 1.02), 0.98),
  });
  REQUIRE(table.rules().size() == 3);
  CHECK(table.rules()[0].algorithm == "mpi");
  CHECK(table.rules()[0].nodes.last == 2);
  CHECK(table.rules()[0].bytes.first == 9);
  CHECK(table.rules()[0].bytes.last == 512);
  CHECK(table.rules()[1].algorithm == "flat");
  CHECK(table.rules()[1].bytes.last == 64);
  CHECK(table.rules()[2].algorithm == "bruck");
  CHECK(table.rules()[2].bytes.last == 512);
}

TEST_CASE("the MPI is tried with the others, and is none of Muster's own") {
  const std::vector<algorithm> rows = mpi::with_mpi(algos::catalog());
  const stopwatch time = [](const spot&, std::span<const std::string> algorithms) {
    times taken;
    for (const std::string& each : algorithms) taken.push_back(each == "mpi" ? 1 : 2);
    return taken;
  };
  const winner best = fastest({collective::allgather, 2, 4, 64}, rows, time);
  CHECK(best.mpi_us == 1);
  CHECK(best.us == 2);
  CHECK(best.algorithm != "mpi");
  CHECK(is_left(best));
}

/// Those of one table are also the MPI's.
thread_options with_all_algorithms() {
  static const std::vector<algorithm> rows = mpi::with_mpi(algos::catalog());
  return {.algorithms = rows};
}

TEST_CASE("the tables that come with Muster say nothing of one node, and are known algorithms") {
  for (const auto& table :
       {table_for_networks(), table_for_tcp(), table_for_mpi(), table_for_made_up_nodes()}) {
    CHECK(!table->rules().empty());
    run_threads(1, [&](team& alone) { alone.select_by(table); }, with_all_algorithms());
    for (const selection_table::rule& each : table->rules()) CHECK(each.nodes.first >= 2);
  }
}

void exchange(team& of, std::size_t count) {
  const std::vector<std::uint64_t> mine(count * of.size(), of.rank());
  std::vector<std::uint64_t> all(count * of.size());
  start(of.engine(), alltoall(of, mine, all)).wait();
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i / count);
  start(of.engine(), allgather(of, std::span(mine).first(count), all)).wait();
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i / count);
  start(of.engine(), allreduce(of, mine, all, reduction::sum)).wait();
  for (const std::uint64_t each : all) CHECK(each == of.size() * (of.size() - 1) / 2);
}

TEST_CASE("ranks of uneven nodes select alike by the tables that come with Muster") {
  for (const auto& table :
       {table_for_networks(), table_for_tcp(), table_for_mpi(), table_for_made_up_nodes()}) {
    const auto call_all = [&](team& of) {
      of.select_by(table);
      for (const std::size_t count : {1, 100, 5000}) exchange(of, count);
    };
    thread_options uneven = with_all_algorithms();
    uneven.node_of = {0, 0, 0, 1, 1, 2};
    run_threads(6, call_all, uneven);
  }
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

}  // namespace
}  // namespace muster::tune
