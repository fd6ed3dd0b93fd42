#include "tools/bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "tools/bench/sizes.hpp"
#include "tools/bench/svg.hpp"

namespace muster::bench {
namespace {

// All lengths are in pixels.
constexpr double margin = 36;
constexpr double header_height = 116;
constexpr double footer_height = 46;
constexpr double cell_width = 350;
constexpr double cell_height = 368;
constexpr double axis_room = 62;  ///< left of a panel, for its labels
constexpr double time_height = 196;
constexpr double ratio_height = 66;
constexpr double title_room = 30;
constexpr double panel_gap = 12;

constexpr std::string_view better = "#2da44e";
constexpr std::string_view worse = "#cf222e";
constexpr std::string_view limit_stroke =
    R"(stroke="#1f2328" stroke-width="1.4" stroke-dasharray="4 3")";

/// Told apart by people who don't see all colours alike, too.
std::string_view colour_of(library which) {
  constexpr std::array<std::string_view, all_libraries.size()> colours{"#d9480f", "#1971c2",
                                                                       "#5f3dc4"};
  return colours[static_cast<std::size_t>(which)];
}

double line_width(library which) { return which == library::muster ? 2.6 : 1.8; }

struct span_of_values {
  double least = 0;
  double most = 0;
  void include(double value) {
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  bool empty() const { return most == 0; }
};

/// What the panels share, so that they can be compared by eye.
struct scales {
  span_of_values bytes;
  span_of_values ratio;
};

/// A power of two: `4×`, `1/4×`.
std::string ratio_tick_label(double ratio) {
  return ratio >= 1 ? fmt::format("{:g}×", ratio) : fmt::format("1/{:g}×", 1 / ratio);
}

std::string ratio_label(double ratio) {
  return ratio >= 9.95 ? fmt::format("{:.0f}", ratio) : fmt::format("{:#.2g}", ratio);
}

/// Two digits, or all before the point: there is no room for more on a bar.
std::string bar_label(double us) {
  return fmt::format("{:.{}f}", us, us < 1 ? 2 : us < 10 ? 1 : 0);
}

std::string tooltip_of(const measurement& one) {
  return fmt::format("{}, {} {}, {} ranks: {} (10–90 %: {} – {}){}", title_of(one.of),
                     name(one.at.what), readable_bytes(one.at.bytes), one.at.ranks,
                     readable_time(one.median_us), readable_time(one.p10_us),
                     readable_time(one.p90_us), one.verified ? "" : " WRONG RESULTS");
}

class plot {
public:
  plot(std::span<const measurement> all, const surroundings& about) : about_(about) {
    for (const measurement& one : all) {
      if (one.has_figures()) all_.push_back(one);
    }
    libraries_ = libraries_in(all_);
    ranks_ = ranks_in(all_);
    for (const collective what : collectives_in(all_)) {
      if (has_sizes(what)) sized_.push_back(what);
    }
    with_barrier_ = sized_.size() < collectives_in(all_).size();
    for (const measurement& one : all_) {
      if (one.at.bytes > 0) scales_.bytes.include(static_cast<double>(one.at.bytes));
      if (one.ratio) scales_.ratio.include(*one.ratio);
    }
    // At least from 1/2 to 2, and room for the figures at the bars' ends.
    scales_.ratio.include(0.5);
    scales_.ratio.include(2);
    scales_.ratio.least /= 1.8;
    scales_.ratio.most *= 1.8;
  }

  std::string draw() {
    const bool by_ranks = ranks_.size() > 1;
    const std::size_t panels = sized_.size() + (with_barrier_ ? 1 : 0);
    const std::size_t columns =
        by_ranks ? std::max<std::size_t>(ranks_.size(), 3) : std::clamp<std::size_t>(panels, 2, 3);
    double bottom = header_height;
    if (by_ranks) {
      bottom = draw_by_ranks();
    } else {
      bottom = draw_wrapped(columns);
    }
    const double width = 2 * margin + static_cast<double>(columns) * cell_width;
    draw_header(width);
    draw_footer(bottom + 18);
    return canvas_.document(width, bottom + footer_height, full_title(), plot_style);
  }

private:
  static box cell(std::size_t row, std::size_t column) {
    return {margin + static_cast<double>(column) * cell_width,
            header_height + static_cast<double>(row) * cell_height, cell_width, cell_height};
  }

  double draw_by_ranks() {
    std::size_t row = 0;
    for (const collective what : sized_) {
      for (std::size_t column = 0; column < ranks_.size(); ++column) {
        draw_sized(cell(row, column), what, ranks_[column]);
      }
      row += 1;
    }
    if (with_barrier_) draw_barriers(cell(row, 0));
    box rest = cell(row, with_barrier_ ? 1 : 0);
    rest.width *= 2;
    const bool with_summary = mean_ratio(all_, std::nullopt, std::nullopt).has_value();
    if (with_summary) draw_summary(rest);
    return cell(with_barrier_ || with_summary ? row + 1 : row, 0).y;
  }

  double draw_wrapped(std::size_t columns) {
    std::size_t index = 0;
    const auto next = [&] {
      const box where = cell(index / columns, index % columns);
      index += 1;
      return where;
    };
    for (const collective what : sized_) draw_sized(next(), what, ranks_.at(0));
    if (with_barrier_) draw_barriers(next());
    return cell((index + columns - 1) / columns, 0).y;
  }

  std::string title() const {
    std::string text;
    for (std::size_t i = 0; i < libraries_.size(); ++i) {
      const std::string_view before = i == 0                       ? ""
                                      : i == 1                     ? " beside "
                                      : i + 1 == libraries_.size() ? " and "
                                                                   : ", ";
      text += fmt::format("{}{}", before, title_of(libraries_[i]));
    }
    return text.empty() ? "Nothing measured" : text;
  }

  /// The title and how ranks came late, in one line.
  std::string full_title() const {
    return about_.arrivals.empty() ? title() : title() + ", arrivals " + about_.arrivals;
  }

  void draw_header(double width) {
    canvas_.text({margin, 44}, title(), R"(class="head")");
    std::string context = about_.machine + "  ·  " + about_.date;
    for (const std::string& one : about_.libraries) {
      if (one != title_of(library::muster)) context += "  ·  " + one;
    }
    canvas_.text({margin, 66}, context, "");
    double x = margin;
    for (const library which : libraries_) {
      canvas_.line({x, 90}, {x + 26, 90}, stroke(which));
      draw_marker(which, {x + 13, 90}, "");
      canvas_.text({x + 33, 94}, title_of(which), R"(class="strong")");
      constexpr double letter_width = 7.5;
      x += 60 + letter_width * static_cast<double>(title_of(which).size());
    }
    if (has_limits()) {
      canvas_.line({x, 90}, {x + 26, 90}, limit_stroke);
      canvas_.text({x + 33, 94}, "about the least this machine allows", R"(class="strong")");
    }
    if (!about_.arrivals.empty()) {
      canvas_.text({width - margin, 94}, "arrivals " + about_.arrivals,
                   R"(class="strong" text-anchor="end")");
    }
    const auto overall = mean_ratio(all_, std::nullopt, std::nullopt);
    if (!overall) return;
    canvas_.text({width - margin, 46}, fmt::format("{:.2f}×", *overall),
                 fmt::format(R"(class="head" text-anchor="end" style="fill:{}")",
                             *overall >= 1 ? better : worse));
    canvas_.text({width - margin, 66}, "the better peer's time over Muster's, geometric mean",
                 R"(text-anchor="end")");
  }

  void draw_footer(double y) {
    canvas_.text({margin, y},
                 "Lines: medians; bands: 10th to 90th percentile. Bars: the better peer's median "
                 "over Muster's; above 1 (green) Muster is faster.",
                 "");
    canvas_.text({margin, y + 16},
                 about_.arrivals.empty()
                     ? "Times: the mean over back-to-back calls on rotating, changing buffers; the "
                       "slowest rank counts."
                     : "Times: from a rank's own arrival, after its delay, until its call is done; "
                       "the mean over calls and ranks.",
                 "");
  }

  bool has_limits() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const measurement& one) { return one.limit_us.has_value(); });
  }

  void draw_cell_title(const box& where, const std::string& name, std::optional<double> mean) {
    constexpr std::size_t most_letters = 24;  // above the panel, beside the mean
    const double indent = name.size() > most_letters ? 0 : axis_room;
    canvas_.text({where.x + indent, where.y + 16}, name, R"(class="name")");
    if (!mean) return;
    canvas_.text({where.right() - 14, where.y + 16}, fmt::format("{:.2f}×", *mean),
                 fmt::format(R"(class="strong" text-anchor="end" style="fill:{}")",
                             *mean >= 1 ? better : worse));
  }

  static box time_panel(const box& where) {
    return {where.x + axis_room, where.y + title_room, where.width - axis_room - 14, time_height};
  }
  static box ratio_panel(const box& where) {
    const box above = time_panel(where);
    return {above.x, above.bottom() + panel_gap, above.width, ratio_height};
  }

  /// The vertical axis of a collective's times, alike at every rank count.
  log_axis time_axis(collective what, const box& panel) const {
    span_of_values times;
    for (const measurement& one : all_) {
      if (one.at.what != what) continue;
      times.include(one.p10_us);
      times.include(one.p90_us);
      if (one.limit_us) times.include(*one.limit_us);
    }
    const double below = has_sizes(what) ? 0.75 : 0.3;
    const double above = has_sizes(what) ? 1.35 : 2;
    return log_axis(times.least * below, times.most * above, panel.bottom(), panel.y);
  }

  void draw_time_grid(const box& panel, const log_axis& axis) {
    for (const double us : decimal_ticks(axis)) {
      canvas_.line({panel.x, axis.at(us)}, {panel.right(), axis.at(us)}, grid_line);
      canvas_.text({panel.x - 7, axis.at(us) + 4}, time_label(us), R"(text-anchor="end")");
    }
  }

  log_axis ratio_axis(const box& panel) const {
    return log_axis(scales_.ratio.least, scales_.ratio.most, panel.bottom(), panel.y);
  }

  void draw_ratio_grid(const box& panel, const log_axis& axis) {
    constexpr std::size_t most_ticks = 4;
    for (const double ratio : binary_ticks(axis, most_ticks)) {
      canvas_.line({panel.x, axis.at(ratio)}, {panel.right(), axis.at(ratio)}, grid_line);
      canvas_.text({panel.x - 7, axis.at(ratio) + 4}, ratio_tick_label(ratio),
                   R"(text-anchor="end")");
    }
  }

  void draw_ratio_bar(const log_axis& axis, double middle, double width, double ratio,
                      bool labelled) {
    const bool good = ratio >= 1;
    const double top = axis.at(std::max(ratio, 1.0));
    const double bottom = axis.at(std::min(ratio, 1.0));
    canvas_.rectangle(
        {middle - width / 2, top, width, std::max(bottom - top, 1.0)},
        fmt::format(R"(fill="{}" fill-opacity="0.75" rx="1.5")", good ? better : worse));
    if (!labelled) return;
    canvas_.text({middle, good ? top - 3 : bottom + 10}, ratio_label(ratio),
                 R"(class="small" text-anchor="middle")");
  }

  /// Along an axis: rotated, beside the vertical one; below the horizontal one.
  void draw_axis_names(const box& where, std::string_view along_x) {
    const box times = time_panel(where);
    const box ratios = ratio_panel(where);
    const double x = where.x + 8;
    for (const auto& [panel, name] :
         {std::pair{times, "time a call"}, std::pair{ratios, "ratio"}}) {
      const double middle = panel.y + panel.height / 2;
      const std::string turned = fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", x, middle);
      canvas_.text({x, middle}, name, R"(class="small" text-anchor="middle" )" + turned);
    }
    canvas_.text({ratios.x + ratios.width / 2, ratios.bottom() + 31}, along_x,
                 R"(class="small" text-anchor="middle")");
  }

  void draw_ratio_frame(const box& panel, const log_axis& axis) {
    canvas_.line({panel.x, axis.at(1)}, {panel.right(), axis.at(1)},
                 R"(stroke="#57606a" stroke-width="1")");
    canvas_.rectangle(panel, frame_line);
  }

  static std::string stroke(library which) {
    return fmt::format(R"(stroke="{}" stroke-width="{}" stroke-linejoin="round")", colour_of(which),
                       line_width(which));
  }

  void draw_marker(library which, spot at, const std::string& tooltip) {
    const std::string fill =
        fmt::format(R"(fill="{}" stroke="#ffffff" stroke-width="1")", colour_of(which));
    constexpr double radius = 4;
    canvas_.open_group(tooltip);
    if (which == library::openmpi) {
      canvas_.rectangle({at.x - 3.5, at.y - 3.5, 7, 7}, fill);
    } else if (which == library::mpich) {
      const std::vector<spot> corners{
          {at.x, at.y - 4.6}, {at.x + 4.4, at.y + 3.4}, {at.x - 4.4, at.y + 3.4}};
      canvas_.polygon(corners, fill);
    } else {
      canvas_.circle(at, radius, fill, "");
    }
    canvas_.close_group();
  }

  std::vector<measurement> select(library which, collective what, std::size_t ranks) const {
    std::vector<measurement> chosen;
    for (const measurement& one : all_) {
      if (one.of == which && one.at.what == what && one.at.ranks == ranks) chosen.push_back(one);
    }
    return chosen;
  }

  log_axis size_axis(const box& panel) const {
    // A little room, so that the outermost markers and bars stay inside.
    constexpr double room = 14;
    return log_axis(scales_.bytes.least, scales_.bytes.most, panel.x + room, panel.right() - room);
  }

  void draw_sized(const box& where, collective what, std::size_t ranks) {
    draw_cell_title(where, fmt::format("{}, {} ranks", name(what), ranks),
                    mean_ratio(all_, what, ranks));
    const box times = time_panel(where);
    const box ratios = ratio_panel(where);
    const log_axis x = size_axis(times);
    const log_axis y = time_axis(what, times);
    draw_time_grid(times, y);
    canvas_.rectangle(times, frame_line);
    draw_limits(what, ranks, x, y);
    // Ours last, on top.
    for (auto which = libraries_.rbegin(); which != libraries_.rend(); ++which) {
      draw_line(select(*which, what, ranks), *which, x, y);
    }
    draw_ratios(ratios, x, select(library::muster, what, ranks));
    draw_size_labels(ratios, x, what);
    draw_axis_names(where,
                    counts_blocks(what) ? "size of one rank's block" : "size of the message");
  }

  static double pixel_of(const log_axis& x, const measurement& one) {
    return x.at(static_cast<double>(one.at.bytes));
  }

  void draw_line(const std::vector<measurement>& series, library which, const log_axis& x,
                 const log_axis& y) {
    std::vector<spot> medians;
    std::vector<spot> band;
    for (const measurement& one : series) {
      const double at = pixel_of(x, one);
      medians.push_back({at, y.at(one.median_us)});
      band.push_back({at, y.at(one.p90_us)});
    }
    for (auto one = series.rbegin(); one != series.rend(); ++one) {
      band.push_back({pixel_of(x, *one), y.at(one->p10_us)});
    }
    canvas_.polygon(
        band, fmt::format(R"(fill="{}" fill-opacity="0.16" stroke="none")", colour_of(which)));
    canvas_.path(medians, stroke(which));
    for (std::size_t i = 0; i < series.size(); ++i) {
      draw_marker(which, medians[i], tooltip_of(series[i]));
    }
  }

  /// What each point's measurements were told is the least; the same for all libraries.
  void draw_limits(collective what, std::size_t ranks, const log_axis& x, const log_axis& y) {
    std::vector<spot> through;
    for (const std::size_t bytes : bytes_in(all_, what, ranks)) {
      if (const auto limit = limit_at({what, ranks, bytes})) {
        through.push_back({x.at(static_cast<double>(bytes)), y.at(*limit)});
      }
    }
    if (!through.empty()) canvas_.path(through, limit_stroke);
  }

  std::optional<double> limit_at(const point& at) const {
    for (const library which : libraries_) {
      const measurement* const one = find(all_, at, which);
      if (one != nullptr && one->limit_us) return one->limit_us;
    }
    return std::nullopt;
  }

  void draw_ratios(const box& panel, const log_axis& x, const std::vector<measurement>& ours) {
    const log_axis y = ratio_axis(panel);
    draw_ratio_grid(panel, y);
    constexpr double widest = 20;
    constexpr double label_room = 22;
    double width = widest;
    for (std::size_t i = 1; i < ours.size(); ++i) {
      width = std::min(width, 0.7 * (pixel_of(x, ours[i]) - pixel_of(x, ours[i - 1])));
    }
    double free_from = 0;
    for (const measurement& one : ours) {
      if (!one.ratio) continue;
      const double at = pixel_of(x, one);
      const bool labelled = at >= free_from;
      if (labelled) free_from = at + label_room;
      draw_ratio_bar(y, at, width, *one.ratio, labelled);
    }
    draw_ratio_frame(panel, y);
  }

  void draw_size_labels(const box& panel, const log_axis& x, collective what) {
    std::set<std::size_t> sizes;
    for (const measurement& one : all_) {
      if (one.at.what == what) sizes.insert(one.at.bytes);
    }
    constexpr double label_room = 44;
    double free_from = 0;
    for (const std::size_t bytes : sizes) {
      const double at = x.at(static_cast<double>(bytes));
      canvas_.line({at, panel.bottom()}, {at, panel.bottom() + 3},
                   R"(stroke="#8c959f" stroke-width="1")");
      if (at < free_from) continue;
      canvas_.text({at, panel.bottom() + 16}, readable_bytes(bytes),
                   R"(class="small" text-anchor="middle")");
      free_from = at + label_room;
    }
  }

  /// Bars of a library's colour at every rank count; no sizes to draw lines over.
  void draw_barriers(const box& where) {
    draw_cell_title(where,
                    ranks_.size() > 1 ? "barrier" : fmt::format("barrier, {} ranks", ranks_[0]),
                    mean_ratio(all_, collective::barrier, std::nullopt));
    const box times = time_panel(where);
    const box ratios = ratio_panel(where);
    const log_axis y = time_axis(collective::barrier, times);
    draw_time_grid(times, y);
    const log_axis ratio_y = ratio_axis(ratios);
    draw_ratio_grid(ratios, ratio_y);
    const double group = times.width / static_cast<double>(ranks_.size());
    constexpr double widest_bar = 34;
    const double bar = std::min(widest_bar, group * 0.8 / static_cast<double>(libraries_.size()));
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const double middle = times.x + (static_cast<double>(i) + 0.5) * group;
      draw_barrier_group(times, y, middle, bar, ranks_[i]);
      for (const measurement& one : select(library::muster, collective::barrier, ranks_[i])) {
        if (one.ratio) draw_ratio_bar(ratio_y, middle, bar, *one.ratio, true);
      }
      canvas_.text({middle, ratios.bottom() + 16}, fmt::format("{} ranks", ranks_[i]),
                   R"(class="small" text-anchor="middle")");
    }
    canvas_.rectangle(times, frame_line);
    draw_ratio_frame(ratios, ratio_y);
    draw_axis_names(where, "");
  }

  void draw_barrier_group(const box& panel, const log_axis& y, double middle, double bar,
                          std::size_t ranks) {
    const double count = static_cast<double>(libraries_.size());
    for (std::size_t i = 0; i < libraries_.size(); ++i) {
      const double at = middle + (static_cast<double>(i) - (count - 1) / 2) * bar;
      for (const measurement& one : select(libraries_[i], collective::barrier, ranks)) {
        const double top = y.at(one.median_us);
        canvas_.open_group(tooltip_of(one));
        canvas_.rectangle(
            {at - bar * 0.45, top, bar * 0.9, panel.bottom() - top},
            fmt::format(R"(fill="{}" fill-opacity="0.85" rx="1.5")", colour_of(one.of)));
        canvas_.line({at, y.at(one.p10_us)}, {at, y.at(one.p90_us)},
                     R"(stroke="#1f2328" stroke-width="1.2")");
        canvas_.text({at, y.at(one.p90_us) - 4}, bar_label(one.median_us),
                     R"(class="small" text-anchor="middle")");
        canvas_.close_group();
      }
    }
    if (const auto limit = limit_at({collective::barrier, ranks, 0})) {
      const double half = bar * count / 2;
      canvas_.line({middle - half, y.at(*limit)}, {middle + half, y.at(*limit)}, limit_stroke);
    }
  }

  /// A table of geometric means, shaded by how far they are from 1.
  void draw_summary(const box& where) {
    draw_cell_title(where, "Geometric means of the ratio", std::nullopt);
    const std::vector<collective> rows = collectives_in(all_);
    const double row_height = std::min(40.0, 300.0 / static_cast<double>(rows.size() + 2));
    const double column_width =
        std::min(100.0, (where.width - axis_room - 158) / static_cast<double>(ranks_.size() + 1));
    const double left = where.x + axis_room + 148;  // reduce_scatter_block
    double y = where.y + title_room;
    const auto line = [&](std::string_view name, std::optional<collective> what) {
      canvas_.text({where.x + axis_room, y + row_height / 2 + 5}, name, R"(class="strong")");
      for (std::size_t i = 0; i <= ranks_.size(); ++i) {
        const auto count = i < ranks_.size() ? std::optional(ranks_[i]) : std::nullopt;
        draw_mean(
            {left + static_cast<double>(i) * column_width, y, column_width - 4, row_height - 4},
            mean_ratio(all_, what, count));
      }
      y += row_height;
    };
    for (std::size_t i = 0; i <= ranks_.size(); ++i) {
      canvas_.text(
          {left + (static_cast<double>(i) + 0.5) * column_width - 2, y + row_height / 2 + 5},
          i < ranks_.size() ? fmt::format("{} ranks", ranks_[i]) : std::string("all"),
          R"(class="strong" text-anchor="middle")");
    }
    y += row_height;
    for (const collective what : rows) line(name(what), what);
    line("all", std::nullopt);
  }

  void draw_mean(const box& where, std::optional<double> mean) {
    if (!mean) return;
    constexpr double full_shade_factor = 4;
    const double shade = std::min(1.0, std::abs(std::log(*mean)) / std::log(full_shade_factor));
    canvas_.rectangle(where, fmt::format(R"(fill="{}" fill-opacity="{:.2f}" rx="4")",
                                         *mean >= 1 ? better : worse, 0.06 + 0.5 * shade));
    canvas_.text({where.x + where.width / 2, where.y + where.height / 2 + 5},
                 fmt::format("{:.2f}", *mean), R"(class="strong" text-anchor="middle")");
  }

  std::vector<measurement> all_;
  const surroundings& about_;
  std::vector<library> libraries_;
  std::vector<std::size_t> ranks_;
  std::vector<collective> sized_;
  bool with_barrier_ = false;
  scales scales_;
  svg_canvas canvas_;
};

}  // namespace

std::string draw_plot(const std::filesystem::path& file, std::span<const measurement> all,
                      const surroundings& about) {
  return as_file(file, "muster bench", plot(all, about).draw());
}

}  // namespace muster::bench
