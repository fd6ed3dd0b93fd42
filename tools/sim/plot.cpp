#include "tools/sim/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/bench/svg.hpp"
#include "tools/sim/panel.hpp"
#include "tools/sim/report.hpp"

namespace muster::simulator {
namespace {

// All lengths are in pixels.
constexpr double margin = 36;
constexpr double legend_at = 110;
constexpr double legend_row = 22;
constexpr double panel_width = 350;
constexpr double panel_height = 320;
constexpr double footer_height = 46;

/// Told apart by people who don't see all colours alike, too.
constexpr std::array<std::string_view, 8> colours{"#1971c2", "#d9480f", "#2f9e44", "#5f3dc4",
                                                  "#74b816", "#0c8599", "#a61e4d", "#495057"};
constexpr std::string_view automatic_colour = "#f08c00";

class plot {
public:
  plot(const job& how, std::span<const result> all) : how_(how) {
    for (const result& one : all) {
      if (!one.has_figures()) continue;
      series_of(one.at.asked).points.push_back(one);
      if (one.at.bytes > 0) sizes_.include(static_cast<double>(one.at.bytes));
      if (std::find(panels_.begin(), panels_.end(), one.at.what) == panels_.end()) {
        panels_.push_back(one.at.what);
      }
    }
    if (all_.size() == 1) all_.front().beneath = false;
    if (sizes_.least == sizes_.most) {  // in the middle, then
      sizes_.least /= 2;
      sizes_.most *= 2;
    }
  }

  std::string draw() {
    const std::size_t columns = std::clamp<std::size_t>(panels_.size(), 1, 3);
    const double each = columns == 1 ? 2 * panel_width : panel_width;
    const double width = 2 * margin + static_cast<double>(columns) * each;
    double y = draw_header(width);
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const std::size_t column = i % columns;
      const double x = margin + static_cast<double>(column) * each;
      draw_panel(canvas_, {x, y, each, panel_height}, panels_[i], all_, sizes_);
      if (column + 1 == columns || i + 1 == panels_.size()) y += panel_height;
    }
    canvas_.text({margin, y + 18}, footer(), "");
    return canvas_.document(width, y + footer_height, describe(how_), bench::plot_style);
  }

private:
  series& series_of(const std::string& asked) {
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const series& one) { return one.name == asked; });
    if (known != all_.end()) return *known;
    if (asked != automatic) {
      return all_.emplace_back(series{asked, colours[all_.size() % colours.size()], false, {}});
    }
    // Drawn first.
    return *all_.insert(all_.begin(), series{asked, automatic_colour, true, {}});
  }

  std::string footer() const {
    return fmt::format("Simulated; the median of {} call{}. {}", how_.calls,
                       how_.calls == 1 ? "" : "s",
                       how_.late ? "Times: from a rank's own arrival until its call is done; the "
                                   "mean over the ranks."
                                 : "Times: the slowest rank's.");
  }

  /// Down to where the panels begin.
  double draw_header(double width) {
    canvas_.text({margin, 44}, describe_ranks(how_), R"(class="head")");
    canvas_.text(
        {margin, 66},
        fmt::format("arrivals {}, seed {}", how_.late ? how_.late->text : "together", how_.seed),
        R"(class="strong")");
    canvas_.text({margin, 84}, how_.model.description, "");
    constexpr double letter_width = 7.5;
    double x = margin;
    double y = legend_at;
    for (const series& one : all_) {
      const double needed = 60 + letter_width * static_cast<double>(one.name.size());
      if (x + needed > width - margin && x > margin) {
        x = margin;
        y += legend_row;
      }
      canvas_.line({x, y - 4}, {x + 26, y - 4}, one.stroke());
      draw_marker(canvas_, one, {x + 13, y - 4}, "");
      canvas_.text({x + 33, y}, one.name, R"(class="strong")");
      x += needed;
    }
    return y + legend_row;
  }

  const job& how_;
  std::vector<series> all_;
  std::vector<collective> panels_;
  extent sizes_;
  bench::svg_canvas canvas_;
};

}  // namespace

std::string draw_plot(const std::filesystem::path& file, const job& how,
                      std::span<const result> all) {
  return bench::as_file(file, "muster sim", plot(how, all).draw());
}

}  // namespace muster::simulator
