#include "tools/validate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/bench/sizes.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/bench/svg.hpp"

namespace muster::validate {
namespace {

constexpr double panel_size = 340;
constexpr double margin = 56;
constexpr double header = 64;
constexpr double footer = 56;
constexpr std::string_view style =
    "text{font-family:system-ui,sans-serif;font-size:12px;fill:#24292f}"
    ".title{font-size:17px;font-weight:600}.name{font-size:13px;font-weight:600}"
    ".tick{font-size:10px;fill:#57606a}";

std::string_view colour_of(collective what) {
  constexpr std::array<std::string_view, collectives> colours = {
      "#57606a", "#d9480f", "#1971c2", "#2f9e44", "#9c36b5", "#e8a200", "#0b7285", "#c2255c",
      "#5c940d", "#5f3dc4", "#845ef7", "#66a3ad", "#e599b5", "#c99ad6", "#f2cf7c", "#a9c77e"};
  return colours[static_cast<std::size_t>(what)];
}

std::string name_at(const bench::point& at) {
  return fmt::format("{} {}", name(at.what), at.bytes == 0 ? "" : bench::readable_bytes(at.bytes));
}

/// One number of ranks: every point a dot, on the diagonal where prediction and measurement agree.
class panel {
public:
  panel(bench::svg_canvas& on, const bench::box& where, double least, double most)
      : canvas_(on),
        where_(where),
        across_(least, most, where.x, where.right()),
        up_(least, most, where.bottom(), where.y) {}

  void draw_frame(std::size_t ranks) {
    band(2, "#f3f0ff");
    band(1.3, "#d0ebff");
    canvas_.rectangle(where_, R"(fill="none" stroke="#8c959f")");
    for (const double tick : bench::decimal_ticks(across_)) {
      const std::string label = bench::readable_time(tick);
      canvas_.text({across_.at(tick), where_.bottom() + 14}, label,
                   R"(class="tick" text-anchor="middle")");
      canvas_.text({where_.x - 4, up_.at(tick) + 3}, label, R"(class="tick" text-anchor="end")");
    }
    canvas_.line({where_.x, where_.bottom()}, {where_.right(), where_.y}, R"(stroke="#8c959f")");
    canvas_.text({where_.x, where_.y - 6}, fmt::format("{} ranks", ranks), R"(class="name")");
  }

  void draw_dot(const comparison& one) {
    canvas_.circle(
        {across_.at(one.measured_us), up_.at(one.predicted_us)}, 4,
        fmt::format(R"(fill="{}" fill-opacity="0.8" stroke="#fff")", colour_of(one.at.what)),
        fmt::format("{}: measured {}, predicted {}", name_at(one.at),
                    bench::readable_time(one.measured_us), bench::readable_time(one.predicted_us)));
  }

private:
  /// Where the two differ by at most a factor.
  void band(double factor, std::string_view colour) {
    const double least = across_.least();
    const double most = across_.most();
    const std::vector<bench::spot> corners = {
        {across_.at(least), up_.at(least)},        {across_.at(least), up_.at(least * factor)},
        {across_.at(most / factor), up_.at(most)}, {across_.at(most), up_.at(most)},
        {across_.at(most), up_.at(most / factor)}, {across_.at(least * factor), up_.at(least)},
    };
    canvas_.polygon(corners, fmt::format(R"(fill="{}")", colour));
  }

  bench::svg_canvas& canvas_;
  bench::box where_;
  bench::log_axis across_;
  bench::log_axis up_;
};

std::set<std::size_t> ranks_in(std::span<const comparison> all) {
  std::set<std::size_t> ranks;
  for (const comparison& one : all) ranks.insert(one.at.ranks);
  return ranks;
}

/// What there are dots of, in lines of eight.
void draw_legend(bench::svg_canvas& canvas, std::span<const comparison> all, double y) {
  std::set<collective> shown;
  for (const comparison& one : all) shown.insert(one.at.what);
  constexpr std::size_t in_a_line = 8;
  std::size_t index = 0;
  for (const collective what : shown) {
    const bench::spot at{margin + 96 * static_cast<double>(index % in_a_line),
                         y + 16 * static_cast<double>(index / in_a_line)};
    canvas.circle({at.x, at.y - 4}, 5, fmt::format(R"(fill="{}")", colour_of(what)), "");
    canvas.text({at.x + 9, at.y}, name(what), "");
    ++index;
  }
}

}  // namespace

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

std::string to_json(std::span<const comparison> all, const std::string& model) {
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
  const summary found = summarize(all);
  whole["median_factor"] = found.median;
  whole["worst_factor"] = found.worst;
  whole["points"] = std::move(points);
  whole["model"] = nlohmann::ordered_json::parse(model);
  return whole.dump(1) + "\n";
}

std::string draw(std::span<const comparison> all, const std::string& title) {
  double least = 1e9;
  double most = 0;
  for (const comparison& one : all) {
    least = std::min({least, one.measured_us, one.predicted_us});
    most = std::max({most, one.measured_us, one.predicted_us});
  }
  const auto ranks = ranks_in(all);
  constexpr std::size_t columns = 2;
  const std::size_t rows = (ranks.size() + columns - 1) / columns;
  bench::svg_canvas canvas;
  canvas.text({margin, 28}, title, R"(class="title")");
  canvas.text(
      {margin, 48},
      "across: measured on real ranks; up: predicted from the machine alone; bands: within 30 %, "
      "within a factor of 2",
      "");
  std::size_t index = 0;
  for (const std::size_t count : ranks) {
    const bench::box where{
        margin + static_cast<double>(index % columns) * (panel_size + margin),
        header + 20 + static_cast<double>(index / columns) * (panel_size + margin), panel_size,
        panel_size};
    panel one(canvas, where, least / 1.5, most * 1.5);
    one.draw_frame(count);
    for (const comparison& each : all) {
      if (each.at.ranks == count) one.draw_dot(each);
    }
    ++index;
  }
  const double height = header + static_cast<double>(rows) * (panel_size + margin) + footer;
  draw_legend(canvas, all, height - 30);
  return canvas.document(margin + columns * (panel_size + margin), height, title, style);
}

}  // namespace muster::validate
