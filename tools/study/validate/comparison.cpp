#include "tools/study/validate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/report/lines.hpp"
#include "tools/report/sizes.hpp"
#include "tools/report/statistics.hpp"

namespace muster::validate {

summary summarize(std::span<const comparison> all) {
  std::vector<double> factors;
  for (const comparison& one : all) factors.push_back(one.factor());
  if (factors.empty()) return {};
  return {bench::median(factors), *std::ranges::max_element(factors)};
}

std::string table(std::span<const comparison> all) {
  std::string text = fmt::format("{:<10} {:>5} {:>9} {:>10} {:>10} {:>6}\n", "collective", "ranks",
                                 "size", "measured", "predicted", "ratio");
  for (const comparison& one : all) {
    fmt::format_to(std::back_inserter(text), "{:<10} {:>5} {:>9} {:>10} {:>10} {:>6.2f}{}\n",
                   name(one.at.what), one.at.ranks,
                   one.at.bytes == 0 ? "-" : bench::readable_bytes(one.at.bytes),
                   bench::readable_time(one.measured_us), bench::readable_time(one.predicted_us),
                   one.ratio(), one.factor() > 2 ? "  <" : "");
  }
  const summary whole = summarize(all);
  return text + fmt::format("median {:.0f} % off, at worst by a factor of {:.1f}\n",
                            100 * (whole.median - 1), whole.worst);
}

std::string to_json(std::span<const comparison> all, const std::string& machine,
                    const std::string& model) {
  auto points = nlohmann::ordered_json::array();
  for (const comparison& one : all) {
    points.push_back({{"collective", name(one.at.what)},
                      {"ranks", one.at.ranks},
                      {"bytes", one.at.bytes},
                      {"measured_us", one.measured_us},
                      {"predicted_us", one.predicted_us},
                      {"trip_ns", one.trip_ns},
                      {"other_core_gbs", one.other_core_gbs}});
  }
  nlohmann::ordered_json whole;
  whole["machine"] = machine;
  const summary found = summarize(all);
  whole["median_factor"] = found.median;
  whole["worst_factor"] = found.worst;
  whole["points"] = std::move(points);
  whole["model"] = nlohmann::ordered_json::parse(model);
  return report::in_lines(whole);
}

}  // namespace muster::validate
