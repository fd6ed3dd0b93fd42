// What an event of the simulator costs, in nanoseconds: of the queue alone, and of whole
// simulations with more and more ranks, whose state stays in the cache less and less.
//
//   benchmark [NODES...]      of 56 ranks each

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/base/random.hpp>

#include "algos/catalog.hpp"
#include "tools/command/measure/stopwatch.hpp"
#include "transports/sim/event_queue.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {
namespace {

using measure::stopwatch;

/// Pops an event and pushes one somewhat later, with so many waiting.
void queue_alone(std::size_t waiting) {
  event_queue queue;
  random_stream chance(1);
  constexpr std::uint64_t later = 1'000'000;
  std::uint64_t order = 0;
  const auto push = [&](picoseconds now) {
    queue.push({now + static_cast<picoseconds>(chance.next() % later), order++, event::kind::run, 0,
                nullptr, 0});
  };
  for (std::size_t i = 0; i < waiting; ++i) push(0);
  constexpr int events = 2'000'000;
  const stopwatch watch;
  for (int i = 0; i < events; ++i) push(queue.pop().when);
  std::printf("queue, %7zu waiting           %6.0f ns an event\n", waiting, watch.ns() / events);
}

task<> one_alltoall(rank& self) {
  arguments call;
  call.what = collective::alltoall;
  call.count = 512;
  // Payload is left out: addresses that nobody touches.
  call.send = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 58);
  call.receive = reinterpret_cast<std::byte*>(std::uintptr_t{2} << 58);
  self.team().choose(collective::alltoall, "pairwise");
  co_await perform(self.team(), call);
}

void pairwise_alltoall(std::size_t nodes) {
  model machine;
  machine.cluster = {nodes, 56, 56};
  options how;
  how.payload = false;
  const stopwatch watch;
  simulation ranks(machine, algos::catalog(), how);
  ranks.run(one_alltoall);
  const double ns = watch.ns();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (const auto failure = ranks.rank_at(i).failure()) std::rethrow_exception(failure);
  }
  std::printf("pairwise alltoall, %5zu ranks   %6.0f ns an event, %.1f million in %.1f s\n",
              ranks.size(), ns / static_cast<double>(ranks.events()),
              static_cast<double>(ranks.events()) / 1e6, ns / 1e9);
}

}  // namespace
}  // namespace muster::sim

int main(int argc, char** argv) {
  std::vector<std::size_t> nodes;
  for (int i = 1; i < argc; ++i) nodes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (nodes.empty()) nodes = {1, 8, 32};
  for (const std::size_t waiting : {100, 10'000, 1'000'000}) muster::sim::queue_alone(waiting);
  for (const std::size_t count : nodes) muster::sim::pairwise_alltoall(count);
}
