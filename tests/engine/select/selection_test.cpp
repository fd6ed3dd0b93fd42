// Which algorithm runs: from tables, alike on every rank.

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using rule = selection_table::rule;

arguments call_of(collective what, std::size_t bytes) {
  arguments call;
  call.what = what;
  call.count = what == collective::barrier ? 0 : bytes;
  call.op = has_op(what) ? reduction::bit_xor : reduction::none;
  call.type = datatype::byte;
  return call;
}

std::shared_ptr<const selection_table> table_of(const std::vector<rule>& rules) {
  return std::make_shared<selection_table>(rules);
}

TEST_CASE("a rule selects where it matches and suits, the first before the next") {
  run_threads(4,
              [](team& of) {
                of.select_by(
                    table_of({{.what = collective::alltoall,
                               .nodes = {2, 3},
                               .bytes = {100, 1000},
                               .algorithm = "pairwise"},
                              {.what = collective::allgather, .algorithm = "flat"},
                              {.what = collective::allgather, .algorithm = "smp_direct:ports=2"}}));
                const auto id = [&](collective what, std::size_t bytes) {
                  return std::string(of.selector().select(call_of(what, bytes)).row->id);
                };
                CHECK(id(collective::alltoall, 100) == "pairwise");
                CHECK(id(collective::alltoall, 1000) == "pairwise");
                // The first does not suit two nodes.
                const choice found = of.selector().select(call_of(collective::allgather, 10));
                CHECK(found.row->id == "smp_direct");
                CHECK(found.how.ports == 2);
                of.choose(collective::alltoall, "pairwise");
                CHECK(id(collective::alltoall, 1) == "pairwise");
              },
              {.node_of = {0, 0, 0, 1}});
}

TEST_CASE("beyond its ranges a rule says nothing") {
  run_threads(3, [](team& of) {
    const auto without = of.selector().select(call_of(collective::alltoall, 99)).row;
    of.select_by(
        table_of({{.what = collective::alltoall, .nodes = {2, 2}, .algorithm = "pairwise"},
                  {.what = collective::alltoall, .ranks_a_node = {4, 9}, .algorithm = "pairwise"},
                  {.what = collective::alltoall, .bytes = {100, 200}, .algorithm = "pairwise"}}));
    CHECK(of.selector().select(call_of(collective::alltoall, 99)).row == without);
    CHECK(of.selector().select(call_of(collective::alltoall, 201)).row->id != "pairwise");
    CHECK(of.selector().select(call_of(collective::alltoall, 150)).row->id == "pairwise");
  });
}

TEST_CASE("a table with a rule that names no algorithm is refused") {
  run_threads(1, [](team& of) {
    const auto why = failure_of(
        [&] { of.select_by(table_of({{.what = collective::bcast, .algorithm = "best"}})); });
    REQUIRE(why);
    CHECK(says(why->what(), "no algorithm 'best' for bcast; expected one of: "));
  });
}

/// Random rules, of algorithms that there are.
std::shared_ptr<const selection_table> random_table(random_stream& random) {
  const catalog rows = default_algorithms();
  std::vector<rule> rules;
  const auto some = [&] {
    const std::size_t first = random.below(4);
    return selection_table::range{first, first + random.below(2000)};
  };
  for (std::size_t i = 0; i < 30; ++i) {
    const algorithm& row = rows[random.below(rows.size())];
    rules.push_back({row.what, some(), some(), some(), std::string(row.id)});
  }
  return table_of(rules);
}

TEST_CASE("every rank selects alike, whatever the nodes") {
  const std::vector<std::vector<std::size_t>> layouts = {
      {0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 1, 2}, {2, 0, 1, 0, 0, 2, 0}, {0, 1, 2, 3, 4, 5, 6}};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    random_stream random(derive(run_seed(), i));
    const auto table = random_table(random);
    std::mutex lock;
    std::vector<std::vector<std::string>> selected;
    run_threads(7,
                [&](team& of) {
                  std::vector<std::string> mine;
                  for (const bool by_table : {false, true}) {
                    if (by_table) of.select_by(table);
                    for (std::size_t what = 0; what < collectives; ++what) {
                      if (has_varying_blocks(static_cast<collective>(what))) continue;
                      for (const std::size_t bytes : {0, 1, 100, 5000, 100000}) {
                        const auto call = call_of(static_cast<collective>(what), bytes);
                        mine.emplace_back(of.selector().select(call).row->id);
                      }
                    }
                  }
                  const std::lock_guard held(lock);
                  selected.push_back(std::move(mine));
                },
                {.node_of = layouts[i]});
    for (const auto& each : selected) CHECK_MESSAGE(each == selected.front(), how_to_replay());
  }
}

}  // namespace
}  // namespace muster::testing
