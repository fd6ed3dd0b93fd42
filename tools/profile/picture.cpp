#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tools/bench/sizes.hpp"
#include "tools/bench/svg.hpp"
#include "tools/profile/report.hpp"

namespace muster::profile {
namespace {

using bench::box;
using bench::readable_bytes;
using bench::readable_time;

// All lengths are in pixels.
constexpr double margin = 36;
constexpr double header_height = 126;
constexpr double label_room = 46;  ///< left of a map, for its ranks
constexpr double map_width = 960;
constexpr double widest_column = 48;
constexpr double line_height = 11;  ///< of labels
constexpr double axis_label_width = 240;
constexpr double title_room = 44;
constexpr double axis_room = 30;  ///< below a map, for its calls
constexpr double panel_gap = 22;

constexpr std::size_t most_sites = 8;
constexpr std::size_t most_rows = 32;  ///< more ranks share rows
constexpr std::size_t most_columns = 160;
constexpr std::size_t most_cells = 3200;  ///< of a map: each is an element of the file

constexpr std::string_view on_time = "#f6f8fa";

/// From light to dark, in one hue, so that they can be told apart by everybody and in print.
std::string colour_at(double share) {
  struct rgb {
    double red, green, blue;
  };
  constexpr std::array<rgb, 5> stops{
      {{254, 240, 217}, {253, 204, 138}, {252, 141, 89}, {215, 48, 31}, {110, 0, 10}}};
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto before = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double part = place - static_cast<double>(before);
  const rgb& from = stops[before];
  const rgb& to = stops[before + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(std::lerp(from.red, to.red, part)),
                     std::lround(std::lerp(from.green, to.green, part)),
                     std::lround(std::lerp(from.blue, to.blue, part)));
}

/// Some of a row of things: those from `first` up to `end`.
struct stretch {
  std::size_t first;
  std::size_t end;
};

/// The i-th of `parts` stretches, as equal as can be, of so many things.
stretch part_of(std::size_t all, std::size_t parts, std::size_t i) {
  return {all * i / parts, all * (i + 1) / parts};
}

/// How late ranks came behind the first, on average over calls.
double lateness_ns(const site& of, stretch ranks, stretch calls) {
  double sum = 0;
  for (std::size_t i = calls.first; i < calls.end; ++i) {
    const std::int64_t first = of.kept[i].first_arrival();
    for (std::size_t rank = ranks.first; rank < ranks.end; ++rank) {
      sum += static_cast<double>(of.kept[i].ranks[rank].arrived - first);
    }
  }
  return sum / static_cast<double>((ranks.end - ranks.first) * (calls.end - calls.first));
}

/// A site's arrivals, put together to as many cells as there is room for.
struct heat_map {
  explicit heat_map(const site& of)
      : about(of),
        rows(std::min(of.ranks.size(), most_rows)),
        columns(std::min({of.kept.size(), most_columns, most_cells / rows})) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        ns.push_back(lateness_ns(of, ranks_of(row), calls_of(column)));
      }
    }
  }
  stretch ranks_of(std::size_t row) const { return part_of(about.ranks.size(), rows, row); }
  stretch calls_of(std::size_t column) const { return part_of(about.kept.size(), columns, column); }
  double at(std::size_t row, std::size_t column) const { return ns[row * columns + column]; }
  double cell_height() const { return std::clamp(160.0 / static_cast<double>(rows), 7.0, 18.0); }
  std::size_t rows_a_label() const {
    return static_cast<std::size_t>(std::ceil(line_height / cell_height()));
  }
  double width() const { return std::min(map_width, widest_column * static_cast<double>(columns)); }
  double height() const { return cell_height() * static_cast<double>(rows); }

  const site& about;
  std::size_t rows;
  std::size_t columns;
  std::vector<double> ns;  ///< by row, then column
};

std::string rank_label(const heat_map& map, std::size_t row) {
  const auto [first, end] = map.ranks_of(row);
  const std::vector<std::size_t>& ranks = map.about.ranks;
  return end - first == 1 ? std::to_string(ranks[first])
                          : fmt::format("{}–{}", ranks[first], ranks[end - 1]);
}

std::string call_label(const heat_map& map, std::size_t column) {
  const auto [first, end] = map.calls_of(column);
  const auto number = [&](std::size_t i) { return map.about.kept[i].sequence; };
  return end - first == 1 ? fmt::format("operation {}", number(first))
                          : fmt::format("operations {}–{}", number(first), number(end - 1));
}

class picture {
public:
  explicit picture(const job& of) : job_(of), scale_(1, 1, 0, 1) {
    for (const site& one : of.sites) {
      if (!one.kept.empty() && maps_.size() < most_sites) maps_.emplace_back(one);
    }
    double most = 0;
    for (const heat_map& map : maps_) most = std::max(most, std::ranges::max(map.ns));
    // Four decades at most; what is below is on time.
    constexpr double decades = 1e4;
    most = std::max(most, 100.0);
    scale_ = bench::log_axis(std::max(most / decades, 10.0), most, 0, 1);
  }

  std::string draw() {
    double y = header_height;
    for (const heat_map& map : maps_) y = draw_map(map, y) + panel_gap;
    const double width = 2 * margin + label_room + map_width;
    draw_header();
    // Cells meet without seams.
    const std::string style = std::string(bench::plot_style) + "rect{shape-rendering:crispEdges}";
    return canvas_.document(width, y + margin / 2, title(), style);
  }

private:
  std::string title() const { return fmt::format("Who arrived when: {} ranks", job_.ranks); }

  std::string colour_of(double ns) const {
    return ns < scale_.least() ? std::string(on_time) : colour_at(scale_.at(ns));
  }

  void draw_header() {
    canvas_.text({margin, 44}, title(), R"(class="head")");
    if (maps_.empty()) {
      canvas_.text({margin, 70}, "No call has a record of its ranks.", "");
      return;
    }
    canvas_.text({margin, 66},
                 "A row is a rank, a column a call or several; the darker, the later behind the "
                 "first rank to come.",
                 "");
    draw_legend({margin + label_room, 78, 420, 10});
  }

  void draw_legend(const box& where) {
    canvas_.rectangle({where.x - label_room, where.y, 14, where.height},
                      fmt::format(R"(fill="{}" stroke="#d0d7de")", on_time));
    canvas_.text({where.x - label_room, where.bottom() + 13}, "first", R"(class="small")");
    constexpr std::size_t steps = 60;
    const double step = where.width / steps;
    for (std::size_t i = 0; i < steps; ++i) {
      const auto place = static_cast<double>(i);
      canvas_.rectangle({where.x + place * step, where.y, step + 0.5, where.height},
                        fmt::format(R"(fill="{}")", colour_at(place / (steps - 1))));
    }
    for (const double tick : bench::decimal_ticks(scale_)) {
      const double x = where.x + scale_.at(tick) * where.width;
      canvas_.line({x, where.bottom()}, {x, where.bottom() + 3}, R"(stroke="#57606a")");
      canvas_.text({x, where.bottom() + 13}, bench::time_label(tick / 1e3),
                   R"(class="small" text-anchor="middle")");
    }
    canvas_.text({where.right() + 10, where.bottom()}, "behind the first", R"(class="small")");
  }

  /// Gives where it ends.
  double draw_map(const heat_map& map, double top) {
    const box where{margin + label_room, top + title_room, map.width(), map.height()};
    canvas_.text({margin, top + 14}, title_of(map.about, job_), R"(class="name")");
    canvas_.text({margin, top + 32}, summary(map.about), "");
    for (std::size_t row = 0; row < map.rows; ++row) {
      const double y = where.y + static_cast<double>(row) * map.cell_height();
      if (row % map.rows_a_label() == 0) {
        canvas_.text({where.x - 6, y + map.cell_height() / 2 + 3.5}, rank_label(map, row),
                     R"(class="small" text-anchor="end")");
      }
      for (std::size_t column = 0; column < map.columns; ++column) {
        draw_cell(map, row, column, {where.x, y, where.width, map.cell_height()});
      }
    }
    canvas_.rectangle(where, bench::frame_line);
    draw_axis(map, where);
    return where.bottom() + axis_room;
  }

  void draw_cell(const heat_map& map, std::size_t row, std::size_t column, const box& line) {
    const double ns = map.at(row, column);
    const double width = line.width / static_cast<double>(map.columns);
    const auto [first, end] = map.calls_of(column);
    canvas_.open_group(fmt::format("rank {}, {}: {} behind the first{}", rank_label(map, row),
                                   call_label(map, column), readable_time(ns / 1e3),
                                   end - first == 1 ? "" : " on average"));
    canvas_.rectangle({line.x + static_cast<double>(column) * width, line.y, width, line.height},
                      fmt::format(R"(fill="{}")", colour_of(ns)));
    canvas_.close_group();
  }

  static std::string summary(const site& of) {
    const figures& seen = of.figures;
    return fmt::format(
        "{} call{}{}  ·  {}, T = {}  ·  d/T {}, at most {}  ·  Δ/T {}, at most {}  ·  {} in a "
        "call, {:.0f} % of it waiting for the last",
        of.calls, of.calls == 1 ? "" : "s",
        of.kept.size() < of.calls ? fmt::format(", {} kept", of.kept.size()) : "",
        readable_bytes(of.bytes), readable_time(static_cast<double>(of.message_time.count()) / 1e3),
        readable_factor(seen.average_case.mean), readable_factor(seen.average_case.most),
        readable_factor(seen.worst_case.mean), readable_factor(seen.worst_case.most),
        readable_time(seen.time_in_call_ns / 1e3), 100 * seen.waiting_share);
  }

  /// When the calls were.
  void draw_axis(const heat_map& map, const box& where) {
    const std::vector<call>& calls = map.about.kept;
    const auto room = static_cast<std::size_t>(where.width / axis_label_width);
    const std::size_t ticks = std::min({std::size_t{5}, calls.size(), room + 1});
    for (std::size_t i = 0; i < ticks; ++i) {
      const double place = ticks == 1 ? 0 : static_cast<double>(i) / static_cast<double>(ticks - 1);
      const call& one = calls[ticks == 1 ? 0 : (calls.size() - 1) * i / (ticks - 1)];
      const double x = where.x + where.width * place;
      const std::string_view anchor = i == 0 ? "start" : i + 1 == ticks ? "end" : "middle";
      canvas_.line({x, where.bottom()}, {x, where.bottom() + 4}, R"(stroke="#57606a")");
      canvas_.text(
          {x, where.bottom() + 15},
          fmt::format("operation {}, after {}", one.sequence, since(start(), one.first_arrival())),
          fmt::format(R"(class="small" text-anchor="{}")", anchor));
    }
  }

  static std::string since(std::int64_t begin, std::int64_t ns) {
    const double us = static_cast<double>(ns - begin) / 1e3;
    return us < 1e6 ? readable_time(us) : fmt::format("{:.1f} s", us / 1e6);
  }

  /// The first arrival of all.
  std::int64_t start() const {
    std::optional<std::int64_t> first;
    for (const site& one : job_.sites) {
      if (one.kept.empty()) continue;
      const std::int64_t here = one.kept.front().first_arrival();
      first = std::min(first.value_or(here), here);
    }
    return first.value_or(0);
  }

  const job& job_;
  std::vector<heat_map> maps_;
  bench::log_axis scale_;
  bench::svg_canvas canvas_;
};

}  // namespace

std::string draw(const std::filesystem::path& file, const job& of) {
  return bench::as_file(file, "muster arrivals", picture(of).draw());
}

}  // namespace muster::profile
