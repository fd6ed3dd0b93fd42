#include "tools/study/reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/progress.hpp"
#include "tools/command/sim/report.hpp"
#include "tools/command/sim/run.hpp"
#include "tools/report/lines.hpp"
#include "tools/report/plot.hpp"
#include "tools/report/sizes.hpp"
#include "tools/study/reproduce/claim.hpp"
#include "tools/study/reproduce/page.hpp"

namespace muster::reproduce {
namespace {

std::vector<experiment> chosen(const std::string& only) {
  std::vector<experiment> all = experiments();
  std::erase_if(all,
                [&](const experiment& one) { return one.name.find(only) == std::string::npos; });
  if (!all.empty()) return all;
  std::string names;
  for (const experiment& one : experiments()) names += "\n  " + one.name;
  throw std::runtime_error("--only: no experiment has '" + only +
                           "' in its name; there are:" + names);
}

std::size_t count_runs(const std::vector<experiment>& all) {
  std::size_t count = 0;
  for (const experiment& one : all) count += one.sizes.size() * one.contenders.size();
  return count;
}

measurements measure(const experiment& one, bench::progress_meter& meter) {
  measurements found(one);
  meter.begin(one.title);
  for (const run_of& each : runs_of(one)) {
    const std::string doing =
        fmt::format("{}, {} {}", one.title, each.label, bench::readable_bytes(each.at.bytes));
    meter.show(doing);
    const simulator::result result = run_point(each.how, each.at, [&](std::uint64_t events) {
      constexpr double million = 1e6;
      meter.show(fmt::format("{}, {:.1f} M events", doing, static_cast<double>(events) / million));
    });
    if (!result.failure.empty()) meter.note(doing + ": " + result.failure);
    found.add(each.label, result);
    meter.advance();
  }
  return found;
}

outcome judge(const claim& one, const all_measurements& in) {
  try {
    return check(one, in);
  } catch (const std::runtime_error& why) {
    outcome unknown;
    unknown.source = one.source;
    unknown.says = one.says;
    unknown.reason = why.what();
    return unknown;
  }
}

/// Of each experiment its times and their picture.
class figures {
public:
  explicit figures(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void write(const measurements& found) {
    const simulator::job how = runs_of(found.of()).front().how;
    const std::string json = report::in_lines(simulator::times_to_json(how, found.results()));
    bench::write_file(directory_ / (found.of().name + ".json"), json);
    // What is missing for one is missing for all.
    if (can_draw_) can_draw_ = report::draw(directory_ / (found.of().name + ".svg"), json);
  }

private:
  std::filesystem::path directory_;
  bool can_draw_ = true;
};

}  // namespace

int run(const options& wanted) {
  const std::vector<experiment> all = chosen(wanted.only);
  bench::progress_meter meter(count_runs(all), wanted.quiet, "muster sim");
  std::filesystem::create_directories(wanted.directory);
  all_measurements found;
  figures drawn(wanted.directory);
  for (const experiment& one : all) {
    drawn.write(found.emplace(one.name, measure(one, meter)).first->second);
  }
  meter.clear();
  std::vector<outcome> outcomes;
  for (const claim& one : claims()) {
    if (!found.contains(one.experiment)) continue;
    outcomes.push_back(judge(one, found));
    fmt::print("{}\n", line(outcomes.back()));
  }
  fmt::print("{}\n", summary(outcomes));
  if (wanted.only.empty()) {
    fmt::print("page: {}\n",
               bench::write_file(wanted.directory / "README.md", page(outcomes, all)));
  }
  return 0;
}

}  // namespace muster::reproduce
