// Ranks that are threads of one process, as the guide shows them.

#include <vector>

#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;

int main() {
  // [threads]
  muster::run_threads(8, [](muster::team& team) {
    std::vector<double> data(100, 1.0);
    muster::start(muster::allreduce(team, data, muster::sum)).wait();
    require(data[99] == 8);
  });
  // [threads end]
}
