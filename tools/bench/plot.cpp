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
constexpr double legend_at = 94;
constexpr double legend_row = 22;
constexpr double header_height = 116;  ///< with a legend of one row
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

// Told apart by people who don't see all colours alike, too.
constexpr std::array<std::string_view, 7> our_colours{"#d9480f", "#2f9e44", "#a61e4d", "#0c8599",
                                                      "#e8a200", "#495057", "#9c6b30"};
std::string_view peer_colour(library which) {
  return which == library::openmpi ? "#1971c2" : "#5f3dc4";
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

/// Bars beside each other.
struct bar_group {
  std::vector<contender> members;
  double middle = 0;
  double bar = 0;  ///< how wide one is

  double place_of(std::size_t index) const {
    return middle +
           bar * (static_cast<double>(index) - (static_cast<double>(members.size()) - 1) / 2);
  }
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
  return fmt::format("{}, {} {}, {} ranks: {} (10–90 %: {} – {}){}", title_of(one.who()),
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
    ours_ = ours_in(all_);
    contenders_ = ours_;
    for (const contender& peer : peers_in(all_)) contenders_.push_back(peer);
    figure_ = mean_ratio(all_, {}) ? &measurement::ratio : &measurement::to_first;
    ranks_ = ranks_in(all_);
    for (const collective what : collectives_in(all_)) {
      if (has_sizes(what)) sized_.push_back(what);
    }
    with_barrier_ = sized_.size() < collectives_in(all_).size();
    for (const measurement& one : all_) {
      if (one.at.bytes > 0) scales_.bytes.include(static_cast<double>(one.at.bytes));
      if (one.*figure_) scales_.ratio.include(*(one.*figure_));
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
    const double width = 2 * margin + static_cast<double>(columns) * cell_width;
    top_ = draw_header(width);
    const double bottom = by_ranks ? draw_by_ranks() : draw_wrapped(columns);
    draw_footer(bottom + 18);
    return canvas_.document(width, bottom + footer_height, full_title(), plot_style);
  }

private:
  box cell(std::size_t row, std::size_t column) const {
    return {margin + static_cast<double>(column) * cell_width,
            top_ + static_cast<double>(row) * cell_height, cell_width, cell_height};
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
    const bool with_summary = mean({}).has_value();
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
    std::vector<std::string> names;
    if (!ours_.empty()) names.emplace_back(title_of(library::muster));
    if (nodes_in(all_) > 1) names.back() += fmt::format(" on {} nodes", nodes_in(all_));
    for (const contender& peer : peers_in(all_)) names.push_back(title_of(peer));
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view before = i == 0                  ? ""
                                      : i == 1                ? " beside "
                                      : i + 1 == names.size() ? " and "
                                                              : ", ";
      text += fmt::format("{}{}", before, names[i]);
    }
    return text.empty() ? "Nothing measured" : text;
  }

  /// How ranks came late, and what else is not as usual.
  std::string conditions() const {
    const std::string calls = describe(about_.how, with_reductions());
    if (about_.arrivals.empty()) return calls;
    return "arrivals " + about_.arrivals + (calls.empty() ? "" : ", ") + calls;
  }

  bool with_reductions() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const measurement& one) { return has_op(one.at.what); });
  }

  /// The title and the conditions, in one line.
  std::string full_title() const {
    const std::string beside = conditions();
    return beside.empty() ? title() : title() + ", " + beside;
  }

  /// Down to where the panels begin.
  double draw_header(double width) {
    canvas_.text({margin, 44}, title(), R"(class="head")");
    std::string context = about_.machine + "  ·  " + about_.date;
    for (const std::string& one : about_.libraries) {
      if (one != title_of(library::muster)) context += "  ·  " + one;
    }
    canvas_.text({margin, 66}, context, "");
    if (const std::string beside = conditions(); !beside.empty()) {
      canvas_.text({width - margin, legend_at}, beside, R"(class="strong" text-anchor="end")");
    }
    draw_overall_mean(width);
    return draw_legend(width) + header_height - legend_at;
  }

  /// Where there are several of ours, each has its own in the legend.
  void draw_overall_mean(double width) {
    const auto overall = several() ? std::nullopt : mean({});
    if (!overall) return;
    canvas_.text({width - margin, 46}, fmt::format("{:.2f}×", *overall),
                 fmt::format(R"(class="head" text-anchor="end" style="fill:{}")",
                             *overall >= 1 ? better : worse));
    canvas_.text({width - margin, 66}, "the better peer's time over Muster's, geometric mean",
                 R"(text-anchor="end")");
  }

  std::string legend_of(const contender& who) const {
    if (!several() || who.of != library::muster) return title_of(who);
    const auto its = mean({.asked = who.asked});
    return its ? fmt::format("{} {:.2f}×", title_of(who), *its) : title_of(who);
  }

  /// Wrapped to the width; where its last line is.
  double draw_legend(double width) {
    constexpr double letter_width = 7.5;
    constexpr double gap = 27;
    const std::size_t letters = conditions().size();
    const double taken = letter_width * static_cast<double>(letters + 3);
    const double right = width - margin - (letters == 0 ? 0 : taken);
    spot next{margin, legend_at};
    const auto place = [&](std::string_view words) {
      const double needed = 33 + letter_width * static_cast<double>(words.size());
      if (next.x > margin && next.x + needed > right) next = {margin, next.y + legend_row};
      canvas_.text({next.x + 33, next.y}, words, R"(class="strong")");
      const spot here = next;
      next.x += needed + gap;
      return here;
    };
    for (const contender& who : contenders_) {
      const spot at = place(legend_of(who));
      canvas_.line({at.x, at.y - 4}, {at.x + 26, at.y - 4}, stroke(who));
      draw_marker(who, {at.x + 13, at.y - 4}, "");
    }
    if (has_limits()) {
      const spot at = place("about the least this machine allows");
      canvas_.line({at.x, at.y - 4}, {at.x + 26, at.y - 4}, limit_stroke);
    }
    return next.y;
  }

  void draw_footer(double y) {
    canvas_.text({margin, y}, "Lines: medians; bands: 10th to 90th percentile. " + ratio_legend(),
                 "");
    canvas_.text({margin, y + 16}, "Times: " + time_legend(), "");
  }

  std::string time_legend() const {
    if (!about_.arrivals.empty()) {
      return "from a rank's own arrival, after its delay, until its call is done; the mean over "
             "calls and ranks.";
    }
    const std::string buffers = about_.how.same_buffers ? "on the same, unchanged buffers"
                                                        : "on rotating, changing buffers";
    if (about_.how.between_barriers) {
      return "of the call alone, a barrier before each, " + buffers +
             "; the mean over calls and ranks.";
    }
    return "the mean over back-to-back calls " + buffers + "; the slowest rank counts.";
  }

  std::string ratio_legend() const {
    if (!several()) {
      return "Bars: the better peer's median over Muster's; above 1 (green) Muster is faster.";
    }
    if (figure_ == &measurement::ratio) {
      return "Ratios: the better peer's median over the algorithm's; above 1 Muster is faster.";
    }
    return "Ratios: the first algorithm's median over the other's; above 1 the other is faster.";
  }

  bool several() const { return ours_.size() > 1; }

  /// Of the ratio that is drawn.
  std::optional<double> mean(const selection& some) const {
    const bool to_peer = figure_ == &measurement::ratio;
    return to_peer ? mean_ratio(all_, some) : mean_to_first(all_, some);
  }

  /// One figure for a panel, unless there are several of ours.
  std::optional<double> mean_of_panel(const selection& some) const {
    return several() ? std::nullopt : mean(some);
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

  /// Among ours.
  std::size_t index_of(const contender& who) const {
    return static_cast<std::size_t>(std::find(ours_.begin(), ours_.end(), who) - ours_.begin());
  }

  std::string_view colour_of(const contender& who) const {
    if (who.of != library::muster) return peer_colour(who.of);
    return our_colours[index_of(who) % our_colours.size()];
  }

  std::string stroke(const contender& who) const {
    return fmt::format(R"(stroke="{}" stroke-width="{}" stroke-linejoin="round")", colour_of(who),
                       line_width(who.of));
  }

  /// Ours are circles and diamonds by turns.
  void draw_marker(const contender& who, spot at, const std::string& tooltip) {
    const std::string fill =
        fmt::format(R"(fill="{}" stroke="#ffffff" stroke-width="1")", colour_of(who));
    constexpr double radius = 4;
    constexpr double half = 5.2;
    canvas_.open_group(tooltip);
    if (who.of == library::openmpi) {
      canvas_.rectangle({at.x - 3.5, at.y - 3.5, 7, 7}, fill);
    } else if (who.of == library::mpich) {
      const std::vector<spot> corners{
          {at.x, at.y - 4.6}, {at.x + 4.4, at.y + 3.4}, {at.x - 4.4, at.y + 3.4}};
      canvas_.polygon(corners, fill);
    } else if (index_of(who) % 2 == 0) {
      canvas_.circle(at, radius, fill, "");
    } else {
      const std::vector<spot> corners{
          {at.x, at.y - half}, {at.x + half, at.y}, {at.x, at.y + half}, {at.x - half, at.y}};
      canvas_.polygon(corners, fill);
    }
    canvas_.close_group();
  }

  std::vector<measurement> select(const contender& who, collective what, std::size_t ranks) const {
    std::vector<measurement> chosen;
    for (const measurement& one : all_) {
      if (one.who() == who && one.at.what == what && one.at.ranks == ranks) chosen.push_back(one);
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
                    mean_of_panel({.what = what, .ranks = ranks}));
    const box times = time_panel(where);
    const box ratios = ratio_panel(where);
    const log_axis x = size_axis(times);
    const log_axis y = time_axis(what, times);
    draw_time_grid(times, y);
    canvas_.rectangle(times, frame_line);
    draw_limits(what, ranks, x, y);
    // Ours last, on top.
    for (auto who = contenders_.rbegin(); who != contenders_.rend(); ++who) {
      draw_line(select(*who, what, ranks), *who, x, y);
    }
    draw_ratios(ratios, x, what, ranks);
    draw_size_labels(ratios, x, what);
    draw_axis_names(where,
                    counts_blocks(what) ? "size of one rank's block" : "size of the message");
  }

  static double pixel_of(const log_axis& x, const measurement& one) {
    return x.at(static_cast<double>(one.at.bytes));
  }

  void draw_line(const std::vector<measurement>& series, const contender& who, const log_axis& x,
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
    canvas_.polygon(band,
                    fmt::format(R"(fill="{}" fill-opacity="0.16" stroke="none")", colour_of(who)));
    canvas_.path(medians, stroke(who));
    for (std::size_t i = 0; i < series.size(); ++i) {
      draw_marker(who, medians[i], tooltip_of(series[i]));
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
    for (const contender& who : contenders_) {
      const measurement* const one = find(all_, at, who);
      if (one != nullptr && one->limit_us) return one->limit_us;
    }
    return std::nullopt;
  }

  void draw_ratios(const box& panel, const log_axis& x, collective what, std::size_t ranks) {
    const log_axis y = ratio_axis(panel);
    draw_ratio_grid(panel, y);
    if (several()) {
      for (auto who = ours_.rbegin(); who != ours_.rend(); ++who) {
        draw_ratio_line(select(*who, what, ranks), *who, x, y);
      }
    } else if (!ours_.empty()) {
      draw_ratio_bars(select(ours_.front(), what, ranks), x, y);
    }
    draw_ratio_frame(panel, y);
  }

  void draw_ratio_line(const std::vector<measurement>& series, const contender& who,
                       const log_axis& x, const log_axis& y) {
    std::vector<spot> through;
    for (const measurement& one : series) {
      if (one.*figure_) through.push_back({pixel_of(x, one), y.at(*(one.*figure_))});
    }
    canvas_.path(through, stroke(who));
    for (const spot& at : through) draw_marker(who, at, "");
  }

  void draw_ratio_bars(const std::vector<measurement>& ours, const log_axis& x, const log_axis& y) {
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

  /// Bars of a contender's colour at every rank count; no sizes to draw lines over.
  void draw_barriers(const box& where) {
    draw_cell_title(where,
                    ranks_.size() > 1 ? "barrier" : fmt::format("barrier, {} ranks", ranks_[0]),
                    mean_of_panel({.what = collective::barrier}));
    const box times = time_panel(where);
    const box ratios = ratio_panel(where);
    const log_axis y = time_axis(collective::barrier, times);
    draw_time_grid(times, y);
    const log_axis ratio_y = ratio_axis(ratios);
    draw_ratio_grid(ratios, ratio_y);
    const double room = times.width / static_cast<double>(ranks_.size());
    bar_group group = group_of_barriers(room);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      group.middle = times.x + (static_cast<double>(i) + 0.5) * room;
      draw_barrier_group(times, y, group, ranks_[i]);
      draw_barrier_ratios(ratio_y, group, ranks_[i]);
      canvas_.text({group.middle, ratios.bottom() + 16}, fmt::format("{} ranks", ranks_[i]),
                   R"(class="small" text-anchor="middle")");
    }
    canvas_.rectangle(times, frame_line);
    draw_ratio_frame(ratios, ratio_y);
    draw_axis_names(where, "");
  }

  /// Those of whom there are barriers.
  bar_group group_of_barriers(double room) const {
    bar_group group;
    for (const contender& who : contenders_) {
      const bool there = std::any_of(all_.begin(), all_.end(), [&](const measurement& one) {
        return one.who() == who && one.at.what == collective::barrier;
      });
      if (there) group.members.push_back(who);
    }
    constexpr double widest_bar = 34;
    group.bar = std::min(widest_bar, room * 0.8 / static_cast<double>(group.members.size()));
    return group;
  }

  /// One of ours in the middle; several below their times.
  void draw_barrier_ratios(const log_axis& y, const bar_group& group, std::size_t ranks) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const double at = several() ? group.place_of(i) : group.middle;
      for (const measurement& one : select(group.members[i], collective::barrier, ranks)) {
        if (one.*figure_) draw_ratio_bar(y, at, group.bar, *(one.*figure_), true);
      }
    }
  }

  void draw_barrier_group(const box& panel, const log_axis& y, const bar_group& group,
                          std::size_t ranks) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      for (const measurement& one : select(group.members[i], collective::barrier, ranks)) {
        draw_barrier_bar(panel, y, {group.place_of(i), y.at(one.median_us)}, group.bar, one);
      }
    }
    if (const auto limit = limit_at({collective::barrier, ranks, 0})) {
      const double half = group.bar * static_cast<double>(group.members.size()) / 2;
      canvas_.line({group.middle - half, y.at(*limit)}, {group.middle + half, y.at(*limit)},
                   limit_stroke);
    }
  }

  void draw_barrier_bar(const box& panel, const log_axis& y, spot top, double bar,
                        const measurement& one) {
    canvas_.open_group(tooltip_of(one));
    canvas_.rectangle(
        {top.x - bar * 0.45, top.y, bar * 0.9, panel.bottom() - top.y},
        fmt::format(R"(fill="{}" fill-opacity="0.85" rx="1.5")", colour_of(one.who())));
    canvas_.line({top.x, y.at(one.p10_us)}, {top.x, y.at(one.p90_us)},
                 R"(stroke="#1f2328" stroke-width="1.2")");
    canvas_.text({top.x, y.at(one.p90_us) - 4}, bar_label(one.median_us),
                 R"(class="small" text-anchor="middle")");
    canvas_.close_group();
  }

  /// A table of geometric means, shaded by how far they are from 1.
  void draw_summary(const box& where) {
    draw_cell_title(where, "Geometric means of the ratio", std::nullopt);
    const std::vector<selection> lines = lines_of_means(all_);
    const double row_height = std::min(40.0, 300.0 / static_cast<double>(lines.size() + 1));
    const double names = width_of_titles(lines);
    const double column_width = std::min(
        100.0, (where.width - axis_room - names - 10) / static_cast<double>(ranks_.size() + 1));
    box next{where.x + axis_room + names, where.y + title_room, column_width, row_height};
    draw_mean_heads(next);
    for (const selection& line : lines) {
      next.y += row_height;
      draw_mean_line(next, where.x + axis_room, line);
    }
  }

  static double width_of_titles(std::span<const selection> lines) {
    constexpr double letter_width = 7.4;
    double most = 148;  // reduce_scatter_block
    for (const selection& line : lines) {
      most = std::max(most, letter_width * static_cast<double>(title_of(line).size()));
    }
    return most;
  }

  void draw_mean_heads(box cell) {
    for (std::size_t i = 0; i <= ranks_.size(); ++i) {
      canvas_.text({cell.x + cell.width / 2 - 2, cell.y + cell.height / 2 + 5},
                   i < ranks_.size() ? fmt::format("{} ranks", ranks_[i]) : std::string("all"),
                   R"(class="strong" text-anchor="middle")");
      cell.x += cell.width;
    }
  }

  void draw_mean_line(box cell, double left, selection line) {
    canvas_.text({left, cell.y + cell.height / 2 + 5}, title_of(line), R"(class="strong")");
    for (std::size_t i = 0; i <= ranks_.size(); ++i) {
      line.ranks = i < ranks_.size() ? std::optional(ranks_[i]) : std::nullopt;
      draw_mean({cell.x, cell.y, cell.width - 4, cell.height - 4}, mean(line));
      cell.x += cell.width;
    }
  }

  void draw_mean(const box& where, std::optional<double> value) {
    if (!value) return;
    constexpr double full_shade_factor = 4;
    const double shade = std::min(1.0, std::abs(std::log(*value)) / std::log(full_shade_factor));
    canvas_.rectangle(where, fmt::format(R"(fill="{}" fill-opacity="{:.2f}" rx="4")",
                                         *value >= 1 ? better : worse, 0.06 + 0.5 * shade));
    canvas_.text({where.x + where.width / 2, where.y + where.height / 2 + 5},
                 fmt::format("{:.2f}", *value), R"(class="strong" text-anchor="middle")");
  }

  std::vector<measurement> all_;
  const surroundings& about_;
  std::vector<contender> ours_;
  std::vector<contender> contenders_;  ///< ours and the peers
  std::optional<double> measurement::*
      figure_{};    ///< the ratio that is drawn: to the peers, if any
  double top_ = 0;  ///< where the panels begin
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
