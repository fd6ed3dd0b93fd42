#include "tools/command/sim/sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <muster/base/error.hpp>
#include <muster/run/team.hpp>

#include "tools/command/catalog/catalog.hpp"
#include "tools/command/shared/algorithms.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/progress.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/sim/report.hpp"
#include "tools/command/sim/run.hpp"
#include "tools/report/lines.hpp"
#include "tools/report/plot.hpp"
#include "tools/report/sizes.hpp"
#include "tools/study/reproduce/reproduce.hpp"
#include "tools/study/validate/validate.hpp"

namespace muster::simulator {
namespace {

constexpr const char* command_name = "muster sim";

std::vector<point> points_of(const options& wanted, catalog rows) {
  bench::require_algorithms(rows, wanted.algorithms, wanted.collectives);
  std::vector<point> points;
  for (const collective what : wanted.collectives) {
    const auto asked = bench::algorithms_of(rows, what, wanted.algorithms);
    const auto sizes = bench::has_sizes(what) ? wanted.sizes : std::vector<std::size_t>{0};
    for (const std::size_t bytes : sizes) {
      for (const std::string& id : asked) points.push_back({what, bytes, id});
    }
  }
  return points;
}

void require_ranks(const job& how) {
  if (how.ranks_a_node > most_ranks_a_node) {
    throw std::runtime_error(fmt::format("--ppn: {} ranks a node; expected at most {}",
                                         how.ranks_a_node, most_ranks_a_node));
  }
  if (how.nodes > most_ranks / how.ranks_a_node) {
    throw std::runtime_error(fmt::format("--nodes: {} x {} ranks; expected at most {} in all",
                                         how.nodes, how.ranks_a_node, most_ranks));
  }
  if (!how.late) return;
  try {
    arrivals::require_ranks(*how.late, how.ranks());
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(fmt::format("--arrivals: {} (--nodes, --ppn)", error.what()));
  }
}

job job_of(const options& wanted, catalog rows) {
  if (wanted.machine.empty()) {
    throw std::runtime_error(
        fmt::format("--machine: expected one of {}, or FILE.json", model_names()));
  }
  job how;
  how.model = find_model(wanted.machine);
  how.nodes = wanted.nodes.value_or(how.model.cluster.nodes);
  how.ranks_a_node = wanted.ranks_a_node.value_or(how.model.cluster.ranks_a_node);
  how.traced = !wanted.trace.empty();
  how.calls = wanted.calls.value_or(how.traced ? 1 : how.calls);
  how.seed = wanted.seed;
  how.late = wanted.late;
  how.message_time = wanted.message_time;
  how.payload = wanted.payload;
  how.rows = rows;
  how.table = tune::table_asked_for(tune::table_for_networks());
  require_ranks(how);
  return how;
}

class sim_run {
public:
  explicit sim_run(const options& wanted)
      : wanted_(wanted),
        known_(wanted.catalog_file),
        how_(job_of(wanted, known_.rows())),
        points_(points_of(wanted, known_.rows())),
        meter_(points_.size(), wanted.quiet, command_name) {
    if (how_.traced && points_.size() != 1) {
      throw std::runtime_error(
          fmt::format("--trace: {} points; expected one collective, --sizes with one size and "
                      "--algorithms with one algorithm",
                      points_.size()));
    }
  }

  int run() {
    warn();
    for (const point& at : points_) run_at(at);
    meter_.clear();
    finish();
    return status();
  }

private:
  void warn() {
    if (how_.nodes > how_.model.cluster.nodes) {
      meter_.note(fmt::format("{} has {} nodes; {} of the same kind are simulated", how_.model.name,
                              how_.model.cluster.nodes, how_.nodes));
    }
  }

  void run_at(const point& at) {
    if (found_.empty() || found_.back().at.what != at.what) {
      print(table_head(how_, at.what));
      meter_.begin(fmt::format("{}, {}", name(at.what), describe(how_)));
    }
    const std::string doing = fmt::format(
        "{}{} {}", name(at.what),
        bench::has_sizes(at.what) ? " " + bench::readable_bytes(at.bytes) : "", at.asked);
    meter_.show(doing);
    found_.push_back(run_point(how_, at, [&](std::uint64_t events) {
      constexpr double million = 1e6;
      meter_.show(fmt::format("{}, {:.1f} M events", doing, static_cast<double>(events) / million));
    }));
    print(table_row(found_.back()));
    meter_.advance();
    const std::string& failure = found_.back().failure;
    if (failure.find('\n') != std::string::npos) meter_.note(failure);
  }

  void print(const std::string& text) {
    meter_.clear();
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }

  void finish() {
    fmt::print("{}", summary(how_, found_));
    const std::string json = report::in_lines(to_json(how_, found_));
    json_.write(json);
    if (!wanted_.plot.empty()) report::plot(wanted_.plot, json);
    if (how_.traced && !found_.front().trace.empty()) {
      fmt::print("trace: {}\n", bench::write_file(wanted_.trace, found_.front().trace));
    }
  }

  int status() const {
    const auto any = [this](auto is) { return std::any_of(found_.begin(), found_.end(), is); };
    if (any([](const result& one) { return one.deadlock; })) return 2;
    return any([](const result& one) { return !one.failure.empty() || one.is_wrong(); }) ? 1 : 0;
  }

  const options& wanted_;
  bench::json_output json_{wanted_.json};
  catalogs::extended_catalog known_;
  job how_;
  std::vector<point> points_;
  bench::progress_meter meter_;
  std::vector<result> found_;
};

}  // namespace

namespace {

int run_validation(const options& wanted) {
  validate::options all;
  all.collectives = wanted.collectives;
  all.sizes = wanted.sizes;
  if (wanted.ranks_a_node) all.ranks = {*wanted.ranks_a_node};
  all.json = wanted.json;
  all.plot = wanted.plot;
  all.quiet = wanted.quiet;
  return validate::run(all);
}

}  // namespace

int run_sim(const options& wanted) {
  try {
    if (wanted.machine == "list") {
      fmt::print("{}", list_models());
      return 0;
    }
    bench::require_writable(wanted.plot, "--plot");
    bench::require_writable(wanted.trace, "--trace");
    if (wanted.validate) return run_validation(wanted);
    if (!wanted.reproduce.empty()) {
      return reproduce::run(
          {.directory = wanted.reproduce, .only = wanted.only, .quiet = wanted.quiet});
    }
    return sim_run(wanted).run();
  } catch (const error& why) {
    fmt::print(stderr, "{}: {}\n", command_name, why.text());
    return 1;
  } catch (const std::exception& why) {
    fmt::print(stderr, "{}: {}\n", command_name, why.what());
    return 1;
  }
}

}  // namespace muster::simulator
