#include "tools/command/tune/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>

#include <muster/base/error.hpp>
#include <muster/call/describe.hpp>

#include "tools/command/catalog/catalog.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/progress.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/tune/stopwatches.hpp"
#include "tools/library/table.hpp"
#include "tools/mpi/left_to_mpi.hpp"
#include "tools/report/plot.hpp"
#include "tools/report/sizes.hpp"

namespace muster::tune {
namespace {

/// What is tried of the catalog, and under an MPI what that has, as far as a table can choose it.
std::vector<algorithm> rows_to_try(catalog known, bool under_mpi) {
  if (!under_mpi) return {known.begin(), known.end()};
  std::vector<algorithm> rows = mpi::with_mpi(known);
  std::erase_if(rows, [](const algorithm& one) {
    return one.leaves != leavable::no &&
           one.leaves != mpi::leavable_as(one.what, mpi::form::blocking);
  });
  return rows;
}

/// Where only some ranks know how much there is to do, a table says nothing of sizes.
void require_agreed_sizes(std::span<const collective> all) {
  for (const collective what : all) {
    if (agrees_on_count(what)) continue;
    throw std::runtime_error(
        fmt::format("{}: only some ranks know the lengths, so that there is nothing to select by; "
                    "expected other collectives",
                    name(what)));
  }
}

std::vector<spot> spots_of(const options& wanted) {
  std::vector<spot> all;
  for (const collective what : wanted.collectives) {
    for (const std::size_t nodes : wanted.nodes) {
      for (const std::size_t ranks : wanted.ranks_a_node) {
        if (nodes * ranks < 2 || nodes * ranks > wanted.most_ranks) continue;
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

std::vector<winner> measure(const std::vector<spot>& spots, catalog rows, const stopwatch& time,
                            bench::progress_meter& meter) {
  std::vector<winner> found;
  for (const spot& at : spots) {
    meter.show(text_of(at));
    found.push_back(fastest(at, rows, time));
    meter.clear();
    if (!found.back().algorithm.empty()) {
      const winner& best = found.back();
      const bool leaves = is_left(best);
      const double us = leaves ? best.mpi_us : best.us;
      fmt::print("{:<44} {:<28} {:>10} {:>6.2f}\n", text_of(at),
                 leaves ? mpi::left_to_mpi : best.algorithm, bench::readable_time(us),
                 best.automatic_us / us);
      std::fflush(stdout);
    }
    meter.advance();
  }
  return found;
}

}  // namespace

int run(const options& wanted) {
  bench::require_writable(wanted.table, "--table");
  bench::require_writable(wanted.plot, "--plot");
  require_agreed_sizes(wanted.collectives);
  const catalogs::extended_catalog known(wanted.catalog_file);
  const std::vector<algorithm> tried = rows_to_try(known.rows(), wanted.shim_under.has_value());
  const std::vector<spot> spots = spots_of(wanted);
  bench::progress_meter meter(spots.size(), wanted.quiet, "muster tune");
  const bool simulate = !wanted.machine.empty();
  const std::string where = simulate ? "simulated, model " + wanted.machine : measured_here();
  fmt::print("{:<44} {:<28} {:>10} {:>6}\n", where, "fastest", "time", "gain");
  const stopwatch time =
      simulate ? simulated(simulator::find_model(wanted.machine), known.rows(), wanted.calls)
               : real_ranks(wanted, [&meter](const std::string& text) { meter.note(text); });
  const std::vector<winner> found = measure(spots, tried, time, meter);
  const std::string text = to_json(make_table(found), where);
  if (wanted.table.empty()) {
    fmt::print("{}", text);
  } else {
    fmt::print("table: {}\n", bench::write_file(wanted.table, text));
  }
  if (!wanted.plot.empty()) report::plot(wanted.plot, text);
  return 0;
}

}  // namespace muster::tune
