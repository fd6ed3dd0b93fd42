// Calls whose last rank comes late; ended as the first argument says.

#include <muster/muster.hpp>

#include <signal.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>

namespace {

using muster::task;
using muster::team;

constexpr int calls = 20;

task<> call_late(team& of) {
  std::array<double, 16> values{};
  for (int i = 0; i < calls; ++i) {
    co_await muster::barrier(of);
    if (of.rank() + 1 == of.size()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    co_await muster::allreduce(of, values, muster::sum);
  }
  const std::unique_ptr<team> half = co_await muster::split(of, static_cast<int>(of.rank() % 2), 0);
  std::array<int, 1> value{};
  co_await muster::bcast(*half, value, 0);
}

task<> call_and_die(team& of) {
  co_await call_late(of);
  if (of.rank() == 1) ::raise(SIGKILL);
  try {
    co_await muster::barrier(of);
  } catch (const muster::error& why) {
    std::printf("rank %zu: %s\n", of.rank(), why.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "processes";
  try {
    if (what == "threads") {
      muster::run_threads(3, [](team& of) { muster::start(call_late(of)).wait(); });
      return 0;
    }
    muster::world world;
    world.run(what == "dies" ? call_and_die(world.team()) : call_late(world.team()));
  } catch (const std::exception& why) {
    std::printf("%s\n", why.what());
    return 1;
  }
  return 0;
}
