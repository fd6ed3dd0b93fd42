#include "tests/transports/sim/run.hpp"

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"

namespace muster::testing {

sim::model free_model() {
  sim::model result;
  result.cluster.cores_a_node = 64;
  result.network.latency_ns = 0;
  result.network.send_overhead_ns = 0;
  result.network.receive_overhead_ns = 0;
  result.network.gap_ns = 0;
  result.network.bandwidth_gbs = 1e9;
  result.network.copy_to_bytes = 0;
  for (double* rate :
       {&result.memory.core_copy_gbs, &result.memory.other_core_gbs, &result.memory.cache_copy_gbs,
        &result.memory.memory_read_gbs, &result.memory.memory_write_gbs,
        &result.memory.node_memory_gbs, &result.memory.combine_gbs}) {
    *rate = 1e9;
  }
  result.memory.flag_ns = 0;
  result.core.call_ns = 0;
  result.core.copy_call_ns = 0;
  result.core.switch_ns = 0;
  result.core.crowded_switch_ns = 0;
  result.core.wake_ns = 0;
  result.core.system_call_ns = 0;
  return result;
}

std::vector<double> run(const sim::model& of, sim::options how,
                        const sim::simulation::program& each) {
  sim::simulation all(of, algos::catalog(), std::move(how));
  all.run(each);
  std::vector<double> ends;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const auto failure = all.rank_at(i).failure()) std::rethrow_exception(failure);
    ends.push_back(sim::to_ns(all.rank_at(i).counted().finished));
  }
  return ends;
}

std::vector<std::optional<error>> failures(sim::simulation& over) {
  std::vector<std::optional<error>> result;
  for (std::size_t i = 0; i < over.size(); ++i) {
    result.push_back(failure_of([&] {
      if (const auto failure = over.rank_at(i).failure()) std::rethrow_exception(failure);
    }));
  }
  return result;
}

}  // namespace muster::testing
