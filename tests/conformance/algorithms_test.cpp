// Every row of the catalog, chosen by hand wherever it says that it suits.

#include <doctest/doctest.h>

#include <string>

#include "algos/catalog.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/rows.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

TEST_CASE("every algorithm wherever it suits") {
  constexpr std::size_t ranks[] = {1, 2, 3, 5, 8, 9};
  constexpr std::size_t fewer[] = {1, 2, 5};
  const auto counts = sanitized ? std::span<const std::size_t>(fewer) : ranks;
  std::uint64_t turn = run_seed();
  std::uint64_t number = 0;
  for (const algorithm& row : tested_rows()) {
    for (const world_case& world : worlds_in_turn(counts, turn++)) {
      if (!is_tried(number++)) continue;
      const std::string wrong = run_row(row, algos::catalog(), world).wrong;
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

TEST_CASE("algorithms of large nodes, with more groups") {
  const world_case world{sanitized ? std::size_t{12} : std::size_t{33}, layout::one_node,
                         movement::staged};
  for (const algorithm& row : tested_rows()) {
    if (row.id != "grouped") continue;
    const std::string wrong = run_row(row, algos::catalog(), world).wrong;
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

std::size_t suiting_somewhere(const algorithm& row) {
  std::size_t calls = 0;
  const auto count = [&](team& of) {
    if (of.rank() == 0) calls += calls_for(row, of).size();
  };
  for (const layout nodes : {layout::one_node, layout::uneven}) {
    run_threads(4, count, options_for({4, nodes, movement::staged}));
  }
  run_threads(1, count, options_for({1, layout::one_node, movement::staged}));
  return calls;
}

TEST_CASE("no algorithm is left out by the sizes and worlds above") {
  for (const algorithm& row : tested_rows()) {
    CHECK_MESSAGE(suiting_somewhere(row) > 0, name(row.what), " ", row.id);
  }
}

TEST_CASE("every algorithm has an id of its own within its collective, and says what it is") {
  const catalog rows = algos::catalog();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK_FALSE(rows[i].id.empty());
    CHECK_FALSE(rows[i].summary.empty());
    CHECK_FALSE(rows[i].source.empty());
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = rows[i].what == rows[j].what && rows[i].id == rows[j].id;
      CHECK_MESSAGE(!same, name(rows[i].what), " ", rows[i].id);
    }
  }
}

}  // namespace
}  // namespace muster::testing
