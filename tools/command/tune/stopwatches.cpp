#include "tools/command/tune/stopwatches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

#include <muster/environment/environment.hpp>

#include "tools/command/bench/measured.hpp"
#include "tools/command/shared/made_hosts.hpp"
#include "tools/command/sim/run.hpp"
#include "tools/report/machine.hpp"
#include "transports/shm/trip.hpp"

namespace muster::tune {
namespace {

std::optional<double> simulate(const simulator::job& how, const spot& at,
                               const std::string& algorithm) {
  const simulator::result found =
      run_point(how, {at.what, at.bytes, algorithm}, [](std::uint64_t) {});
  if (!found.failure.empty()) throw std::runtime_error(algorithm + ": " + found.failure);
  if (!found.has_figures()) return std::nullopt;
  return found.median_us;
}

bench::sampling between_barriers(bench::sampling how) {
  how.calls.between_barriers = true;
  return how;
}

/// A job of the ranks of one team after the other. Of calls in a row one begins while the last one
/// is still on its way, so that a chain of ranks seems short; with barriers between them each takes
/// as long as it takes alone. Programs have both: what is tuned to is short in both.
class laboratory {
public:
  laboratory(const options& wanted, bench::job_set::notice tell)
      : on_hosts_(wanted.on_hosts),
        tell_(std::move(tell)),
        in_a_row_(wanted.how, shm::probe_cpus()),
        alone_(between_barriers(wanted.how), shm::probe_cpus()) {
    places_.shim_under = wanted.shim_under;
    if (on_hosts_) places_.remote_shell = made_hosts::write_remote_shell(folder_.path());
    if (!wanted.catalog_file.empty()) {
      places_.catalog_file = std::filesystem::absolute(wanted.catalog_file);
    }
  }

  times measure(const spot& at, std::span<const std::string> algorithms) {
    interrupts_.check();
    const bench::extent size{.ranks = at.nodes * at.ranks_a_node,
                             .nodes = on_hosts_ ? 1 : at.nodes,
                             .hosts = on_hosts_ ? at.nodes : 1};
    if (!jobs_ || jobs_->size() != size) {
      jobs_.emplace(size, bench::usable_cpus(), places_, interrupts_, tell_);
    }
    std::vector<bench::contender> all;
    for (const std::string& each : algorithms) all.push_back({bench::library::muster, each});
    const bench::point point{at.what, size.ranks, at.bytes};
    const auto in_a_row = in_a_row_.measure(*jobs_, all, point, {}, [](const auto&) {});
    const auto alone = alone_.measure(*jobs_, all, point, {}, [](const auto&) {});
    times taken;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto one = time_of(in_a_row[i]);
      const auto other = time_of(alone[i]);
      taken.push_back(one && other ? std::optional(std::sqrt(*one * *other)) : std::nullopt);
    }
    // One that fails, which was told, is not tuned to; where all do there is nothing to go on with.
    if (std::ranges::none_of(taken, [](const auto& us) { return us.has_value(); })) {
      const std::string& first = in_a_row.front().failure;
      throw std::runtime_error(first.empty() ? alone.front().failure : first);
    }
    return taken;
  }

private:
  static std::optional<double> time_of(const bench::measurement& one) {
    if (!one.failure.empty() || !one.suits) return std::nullopt;
    if (!one.verified) throw std::runtime_error(title_of(one.who()) + ": wrong results");
    return one.median_us;
  }

  bool on_hosts_;
  bench::job_set::notice tell_;
  bench::temporary_folder folder_{"muster-tune"};
  bench::program_places places_ = bench::find_programs();
  bench::interrupt_watch interrupts_;
  bench::sampler in_a_row_;
  bench::sampler alone_;
  std::optional<bench::job_set> jobs_;
};

}  // namespace

stopwatch simulated(const sim::model& machine, catalog rows, std::size_t calls) {
  return [machine, rows, calls](const spot& at, std::span<const std::string> algorithms) {
    simulator::job how;
    how.model = machine;
    how.nodes = at.nodes;
    how.ranks_a_node = at.ranks_a_node;
    how.calls = calls;
    how.payload = false;
    how.table = nullptr;
    how.rows = rows;
    times taken;
    for (const std::string& each : algorithms) taken.push_back(simulate(how, at, each));
    return taken;
  };
}

stopwatch real_ranks(const options& wanted, std::function<void(const std::string&)> tell) {
  ::setenv(environment::table.name, "none", 1);  // `automatic` is what there is without a table
  const auto here = std::make_shared<laboratory>(wanted, std::move(tell));
  return [here](const spot& at, std::span<const std::string> algorithms) {
    return here->measure(at, algorithms);
  };
}

std::string measured_here() {
  return fmt::format("{}, {}", bench::machine_name(), bench::utc_date());
}

}  // namespace muster::tune
