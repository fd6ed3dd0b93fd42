#include "tools/conformance/simulated.hpp"

#include <chrono>
#include <exception>

#include "algos/catalog.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {

simulated simulate(const world_case& world) {
  simulated result;
  result.model.cluster.cores_a_node = world.ranks;  // a core each
  result.options.node_of = node_of(world.nodes, world.ranks);
  result.options.watch_reads = true;
  result.options.one_process = world.data == movement::lent;
  if (world.data == movement::foreign) {
    result.model.memory.kernel_copy_gbs = 6;
    result.model.memory.kernel_copy_call_ns = 300;
    result.options.foreign_from = 16384;
  }
  return result;
}

lateness rests(sim::rank& of, clock_time longest) {
  return [&of, longest](random_stream& random) -> task<> {
    if (!random.one_in(3)) co_return;
    const auto most = static_cast<std::size_t>(longest.count());
    co_await of.rest(clock_time(random.below(most + 1)));
  };
}

std::string text_of(const std::exception_ptr& failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& why) {
    return why.what();
  } catch (...) {
    return "something unknown";
  }
}

namespace {

void run_all(const simulated& in, std::span<const spec> calls, const conduct& how,
             findings& found) {
  constexpr auto longest = std::chrono::microseconds(100);
  sim::simulation all(in.model, algos::catalog(), in.options);
  try {
    all.run([&](sim::rank& me) -> task<> {
      const lateness pause = rests(me, longest);
      co_await make_calls(me.team(), calls, how, found, pause);
    });
  } catch (const sim::deadlock& why) {
    found.add(why.what());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const auto failure = all.rank_at(i).failure()) {
      found.add("rank " + std::to_string(i) + " failed: " + text_of(failure));
    }
  }
}

}  // namespace

std::string run_simulated(const simulated& in, std::span<const spec> calls, const conduct& how) {
  const watchdog alive("a simulation");
  findings found;  // outlives the simulation, whose coroutines may end with it
  run_all(in, calls, how, found);
  const std::string wrong = found.take();
  return wrong.empty() ? wrong : how_to_replay() + "\n" + wrong;
}

std::string run_simulated(const world_case& world, std::span<const spec> calls,
                          const conduct& how) {
  const std::string wrong = run_simulated(simulate(world), calls, how);
  return wrong.empty() ? wrong : describe(world) + "; " + wrong;
}

}  // namespace muster::testing
