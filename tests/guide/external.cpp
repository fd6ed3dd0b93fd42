// An event loop that drives an engine, as docs/progress.md shows it.

#include <poll.h>

#include <chrono>

#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;

int main() {
  // [external]
  muster::world world({.progress = muster::progress::external});
  muster::engine& engine = world.engine();
  auto sum = muster::start(muster::allreduce(world.team(), 1.5, muster::sum));
  while (!sum.ended()) {
    if (engine.poll() || !engine.prepare_to_sleep()) continue;
    // Here the loop waits for its other descriptors, too.
    int limit = -1;  // milliseconds; -1: none
    if (const auto most = engine.sleep_limit()) {
      limit = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*most).count());
    }
    pollfd bell{.fd = engine.wakeup_descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&bell, 1, limit);
  }
  const double total = sum.wait();
  // [external end]
  require(total == 1.5 * static_cast<double>(world.team().size()));
}
