#include "tools/study/reproduce/experiment.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tools/command/sim/models.hpp"
#include "tools/report/sizes.hpp"

namespace muster::reproduce {

void measurements::add(const std::string& label, const simulator::result& one) {
  simulator::result labelled = one;
  labelled.at.asked = label;
  labelled.algorithm = label;
  results_.push_back(std::move(labelled));
  if (one.has_figures()) times_[{label, one.at.bytes}] = one.median_us;
}

bool measurements::has(const std::string& label, std::size_t bytes) const {
  return times_.contains({label, bytes});
}

double measurements::time(const std::string& label, std::size_t bytes) const {
  const auto found = times_.find({label, bytes});
  if (found != times_.end()) return found->second;
  throw std::runtime_error(
      fmt::format("{}: no figure of {} for {}", of_.name, label, bench::readable_bytes(bytes)));
}

std::vector<run_of> runs_of(const experiment& one) {
  simulator::job how;
  how.model = simulator::find_model(one.machine);
  how.nodes = one.nodes;
  how.ranks_a_node = one.ranks_a_node;
  how.calls = one.calls;
  how.payload = false;
  how.look_on = true;  // as the papers' ranks did
  if (!one.late.empty()) how.late = arrivals::parse(one.late);
  std::vector<run_of> all;
  for (const std::size_t bytes : one.sizes) {
    for (const contender& each : one.contenders) {
      run_of run{how, {one.what, bytes, each.choice}, each.label};
      if (each.one_rail) run.how.model.network.rails = 1;
      all.push_back(std::move(run));
    }
  }
  return all;
}

}  // namespace muster::reproduce
