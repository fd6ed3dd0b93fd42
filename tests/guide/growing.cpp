// Going on after a failure with as many ranks as before, as the guide shows it: rank 1 is killed
// once.

#include <csignal>
#include <cstddef>
#include <memory>

#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

namespace {

constexpr int steps = 100;
bool has_rejoined = false;

muster::task<> do_step(muster::team& all, int step) {
  if (step == steps / 2 && all.rank() == 1 && !has_rejoined) std::raise(SIGKILL);
  guide::require(co_await muster::allreduce(all, std::size_t{1}, muster::sum) == all.size());
}

// [grow]
muster::task<> do_steps(muster::team& all, int& step) {
  step = co_await muster::allreduce(all, step, muster::max);  // a new rank has done none
  for (; step < steps; ++step) co_await do_step(all, step);
}

muster::task<> program(muster::team& first) {
  std::unique_ptr<muster::team> grown;
  for (int step = 0; step < steps;) {
    muster::team& all = grown ? *grown : first;
    bool failed = false;
    try {
      co_await do_steps(all, step);
    } catch (const muster::error&) {
      failed = true;
    }
    if (failed) grown = co_await muster::grow(all);
  }
}
// [grow end]

}  // namespace

int main() {
  has_rejoined = muster::world::is_to_rejoin();
  // [rejoin]
  std::unique_ptr<muster::world> world = muster::world::rejoin();
  if (!world) world = std::make_unique<muster::world>();
  world->run(program(world->team()));
  // [rejoin end]
}
