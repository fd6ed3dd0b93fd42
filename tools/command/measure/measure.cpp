#include "tools/command/measure/measure.hpp"

#include <fstream>
#include <muster/muster.hpp>
#include <string>
#include <vector>

#include "tools/command/measure/copies.hpp"
#include "tools/command/measure/stopwatch.hpp"
#include "tools/command/measure/switches.hpp"
#include "transports/shm/measure.hpp"
#include "transports/shm/trip.hpp"

namespace muster::measure {
namespace {

/// A cache of the first processor; `otherwise` where the system does not say.
std::size_t cache_bytes(int index, std::size_t otherwise) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  std::size_t kibibytes = 0;
  return file >> kibibytes ? kibibytes << 10 : otherwise;
}

/// Entering and leaving a collective that needs nobody: the mean over the basic ones.
double call_ns() {
  constexpr std::size_t measured = static_cast<std::size_t>(collective::alltoall) + 1;
  double sum = 0;
  run_threads(1, [&sum](team& alone) {
    constexpr int count = 1000;
    for (std::size_t i = 0; i < measured; ++i) {
      double own = 1;
      double result = 0;
      arguments call;
      call.what = static_cast<collective>(i);
      const bool reduces = call.what == collective::reduce || call.what == collective::allreduce;
      if (reduces) call.op = reduction::sum;
      if (call.what != collective::barrier) {
        call.type = datatype::float64;
        call.count = 1;
        call.receive = reinterpret_cast<std::byte*>(&result);
        if (call.what != collective::bcast) call.send = reinterpret_cast<std::byte*>(&own);
      }
      const auto calls = [](team& on, arguments what) -> task<> {
        for (int k = 0; k < count; ++k) co_await perform(on, what);
      };
      sum += median_ns(21, 1, [&] { start(calls(alone, call)).wait(); }) / count;
    }
  });
  return sum / measured;
}

void network(sim::model& result) {
  const sim::model::memory_parameters& memory = result.memory;
  result.network.latency_ns = memory.flag_ns;
  result.network.send_overhead_ns = result.core.copy_call_ns;
  result.network.receive_overhead_ns = result.core.copy_call_ns;
  result.network.gap_ns = 0;
  result.network.moved_by = sim::model::mover::core;
  result.network.core_push_gbs = memory.cache_copy_gbs;
  result.network.bandwidth_gbs =
      memory.cache_copy_gbs * static_cast<double>(result.cluster.cores_a_node);
}

void name_sources(sim::model& result) {
  const std::string measured = "measured on this machine";
  for (const char* field :
       {"memory.core_copy_gbs", "memory.other_core_gbs", "memory.cache_copy_gbs",
        "memory.memory_read_gbs", "memory.memory_write_gbs", "memory.node_memory_gbs",
        "memory.combine_gbs", "memory.flag_ns", "memory.kernel_copy_gbs",
        "memory.kernel_copy_call_ns", "core.call_ns", "core.copy_call_ns", "core.switch_ns",
        "core.crowded_switch_ns", "core.wake_ns", "core.system_call_ns"}) {
    result.sources[field] = measured;
  }
  for (const char* field : {"memory.core_cache_bytes", "memory.cache_bytes"}) {
    result.sources[field] = "as the system says";
  }
  for (const char* field :
       {"network.latency_ns", "network.send_overhead_ns", "network.receive_overhead_ns",
        "network.bandwidth_gbs", "network.core_push_gbs"}) {
    result.sources[field] = "made-up nodes share this machine's memory: its flags and copies";
  }
}

}  // namespace

sim::model this_machine() {
  const std::vector<int> cpus = shm::allowed_cpus();
  sim::model result;
  result.name = "this machine";
  result.description = "Measured by muster info --measure.";
  result.cluster = {1, cpus.size(), cpus.size()};
  const machine seen = shm::measure(shm::ranks_are::processes);
  switches(result, cpus);
  copies(result, cpus, cache_bytes(2, std::size_t{1} << 20), seen.cache_bytes);
  result.memory.flag_ns = seen.trip_ns;
  result.memory.kernel_copy_gbs = seen.foreign_allowed ? seen.in_cache.foreign : 0;
  result.memory.kernel_copy_call_ns = seen.foreign_call_ns;
  result.core.call_ns = call_ns();
  network(result);
  name_sources(result);
  return result;
}

void refresh(sim::model& known) {
  known.memory.flag_ns =
      shm::trip_probe(shm::probe_cpus()).measure_ns().value_or(known.memory.flag_ns);
  known.memory.other_core_gbs = other_core_gbs(shm::allowed_cpus(), known.memory.core_copy_gbs);
}

}  // namespace muster::measure
