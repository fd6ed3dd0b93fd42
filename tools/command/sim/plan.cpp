#include "tools/command/sim/plan.hpp"

#include <cmath>

#include "tools/report/machine.hpp"

namespace muster::simulator {

std::chrono::nanoseconds message_time(const job& how, std::size_t bytes) {
  if (how.nodes == 1) return bench::message_time(sim::measured_by(how.model), bytes);
  const sim::model::network_parameters& network = how.model.network;
  const double fixed_ns =
      network.send_overhead_ns + network.latency_ns + network.gap_ns + network.receive_overhead_ns;
  return std::chrono::nanoseconds(
      std::llround(fixed_ns + static_cast<double>(bytes) / network.bandwidth_gbs));
}

}  // namespace muster::simulator
