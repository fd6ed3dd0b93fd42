// An engine with a thread of its own, as docs/progress.md shows it.

#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;

namespace {

int compute() {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += i;
  return sum;
}

}  // namespace

int main() {
  // [thread]
  muster::world world(
      {.progress = muster::progress::thread, .thread_on = muster::thread_place::spare});
  auto sum = muster::start(muster::allreduce(world.team(), 1.5, muster::sum));
  const int own = compute();  // the operation goes on meanwhile
  const double total = sum.wait();
  // [thread end]
  require(own == 499500);
  require(total == 1.5 * static_cast<double>(world.team().size()));
}
