#include "tools/study/validate/validate.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "tools/command/bench/sampler.hpp"
#include "tools/command/measure/measure.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/progress.hpp"
#include "tools/report/machine.hpp"
#include "tools/report/plot.hpp"
#include "tools/study/validate/comparison.hpp"
#include "tools/study/validate/predict.hpp"

namespace muster::validate {
namespace {

std::vector<bench::point> points_of(const options& wanted, std::size_t ranks) {
  std::vector<bench::point> points;
  for (const collective what : wanted.collectives) {
    if (!bench::has_sizes(what)) {
      points.push_back({what, ranks, 0});
      continue;
    }
    for (const std::size_t bytes : wanted.sizes) points.push_back({what, ranks, bytes});
  }
  return points;
}

class validation {
public:
  explicit validation(const options& wanted)
      : wanted_(wanted),
        model_(measure::this_machine()),
        cpus_(shm::probe_cpus()),
        places_(bench::find_programs()),
        sampler_({}, cpus_),
        meter_(wanted.ranks.size() * points_of(wanted, 1).size(), wanted.quiet) {}

  int run() {
    for (const std::size_t ranks : wanted_.ranks) compare_ranks(ranks);
    meter_.clear();
    fmt::print("{}", table(found_));
    const std::string json = to_json(found_, bench::machine_name(), sim::to_json(model_));
    json_.write(json);
    if (!wanted_.plot.empty()) report::plot(wanted_.plot, json);
    return whole_ ? 0 : 1;
  }

private:
  void compare_ranks(std::size_t ranks) {
    bench::job_set jobs({.ranks = ranks}, bench::usable_cpus(), places_, interrupts_,
                        [this](const std::string& text) { meter_.note(text); });
    meter_.begin(fmt::format("{} ranks", ranks));
    for (const bench::point& at : points_of(wanted_, ranks)) {
      interrupts_.check();
      meter_.show(fmt::format("{} {}", name(at.what), at.bytes));
      compare_point(jobs, at);
      meter_.advance();
    }
  }

  void compare_point(bench::job_set& jobs, const bench::point& at) {
    const double preparing = preparing_ns(at);
    const bench::contender ours;
    const auto measured =
        sampler_.measure(jobs, {&ours, 1}, at, {}, [](const std::string&) {}).front();
    if (!measured.has_figures()) {
      whole_ = false;
      return;
    }
    // What lies between two cores is not the same from one minute to the next where virtual
    // processors are moved about.
    measure::refresh(model_);
    if (measured.trip_ns) model_.memory.flag_ns = *measured.trip_ns;
    found_.push_back({at, measured.median_us, predict_us(model_, at, preparing),
                      measured.trip_ns.value_or(0), model_.memory.other_core_gbs});
  }

  const options& wanted_;
  bench::json_output json_{wanted_.json};
  sim::model model_;
  std::optional<shm::cpu_pair> cpus_;
  bench::program_places places_;
  bench::interrupt_watch interrupts_;
  bench::sampler sampler_;
  bench::progress_meter meter_;
  std::vector<comparison> found_;
  bool whole_ = true;
};

}  // namespace

int run(const options& wanted) {
  try {
    return validation(wanted).run();
  } catch (const bench::interrupted&) {
    fmt::print(stderr, "muster sim: interrupted\n");
    return 130;
  } catch (const std::exception& why) {
    fmt::print(stderr, "muster sim: {}\n", why.what());
    return 1;
  }
}

}  // namespace muster::validate
