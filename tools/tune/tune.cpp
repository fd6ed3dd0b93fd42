#include "tools/tune/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "algos/catalog.hpp"
#include "engine/error.hpp"
#include "tools/bench/command_line.hpp"
#include "tools/bench/progress.hpp"
#include "tools/bench/sizes.hpp"
#include "tools/sim/models.hpp"
#include "tools/sim/run.hpp"
#include "tools/tune/picture.hpp"
#include "tools/tune/table.hpp"

namespace muster::tune {
namespace {

std::optional<double> simulate(const sim::model& machine, std::size_t calls, const spot& at,
                               const std::string& algorithm) {
  simulator::job how;
  how.model = machine;
  how.nodes = at.nodes;
  how.ranks_a_node = at.ranks_a_node;
  how.calls = calls;
  how.payload = false;
  const simulator::result found =
      run_point(how, {at.what, at.bytes, algorithm}, [](std::uint64_t) {});
  if (!found.failure.empty()) throw std::runtime_error(algorithm + ": " + found.failure);
  if (!found.has_figures()) return std::nullopt;
  return found.median_us;
}

std::vector<spot> spots_of(const options& wanted) {
  std::vector<spot> all;
  for (const collective what : wanted.collectives) {
    for (const std::size_t nodes : wanted.nodes) {
      for (const std::size_t ranks : wanted.ranks_a_node) {
        if (nodes * ranks < 2) continue;
        if (!bench::has_sizes(what)) {
          all.push_back({what, nodes, ranks, 0});
          continue;
        }
        for (const std::size_t bytes : wanted.sizes) all.push_back({what, nodes, ranks, bytes});
      }
    }
  }
  return all;
}

std::string text_of(const spot& at) {
  return fmt::format("{}, {} x {} ranks{}", name(at.what), at.nodes, at.ranks_a_node,
                     at.bytes == 0 ? "" : ", " + bench::readable_bytes(at.bytes));
}

std::vector<winner> measure(const options& wanted, const stopwatch& time) {
  const std::vector<spot> spots = spots_of(wanted);
  bench::progress_meter meter(spots.size(), wanted.quiet, "muster tune");
  std::vector<winner> found;
  for (const spot& at : spots) {
    meter.show(text_of(at));
    found.push_back(fastest(at, algos::catalog(), time));
    meter.clear();
    if (!found.back().algorithm.empty()) {
      fmt::print("{:<44} {:<28} {:>10}\n", text_of(at), found.back().algorithm,
                 bench::readable_time(found.back().us));
    }
    meter.advance();
  }
  return found;
}

}  // namespace

int run(const options& wanted) {
  bench::require_writable(wanted.table, "--table");
  bench::require_writable(wanted.plot, "--plot");
  const sim::model machine = simulator::find_model(wanted.machine);
  const std::vector<winner> found =
      measure(wanted, [&](const spot& at, const std::string& algorithm) {
        return simulate(machine, wanted.calls, at, algorithm);
      });
  const std::string text = to_json(make_table(found), "simulated, model " + machine.name);
  if (wanted.table.empty()) {
    fmt::print("{}", text);
  } else {
    fmt::print("table: {}\n", bench::write_file(wanted.table, text));
  }
  if (!wanted.plot.empty()) {
    fmt::print("plot: {}\n",
               bench::write_file(wanted.plot, draw_winners(wanted.plot, machine.name, found)));
  }
  return 0;
}

}  // namespace muster::tune
