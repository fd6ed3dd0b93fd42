#include "tools/command/check/rank.hpp"

#include <cstdio>
#include <muster/muster.hpp>
#include <string>
#include <vector>

#include "tools/conformance/rows.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::check {

int run_rank(std::span<const algorithm> rows, catalog known) {
  world here({.algorithms = known});
  testing::findings found;
  const testing::lateness pause = testing::come_late;
  for (const algorithm& row : rows) {
    const testing::watchdog alive(std::string(name(row.what)) + " " + std::string(row.id));
    const std::vector<testing::spec> calls = testing::calls_for(row, here.team());
    here.run(testing::call_row(row, calls, here.team(), found, pause));
  }
  const std::string wrong = found.take();
  std::fputs(wrong.c_str(), stderr);
  return wrong.empty() ? 0 : 1;
}

}  // namespace muster::check
