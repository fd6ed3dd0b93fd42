#include "tools/sim/panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "tools/bench/sizes.hpp"
#include "tools/sim/report.hpp"

namespace muster::simulator {
namespace {

using bench::box;
using bench::log_axis;
using bench::readable_bytes;
using bench::readable_time;
using bench::spot;
using bench::svg_canvas;

// All lengths are in pixels.
constexpr double axis_room = 62;  ///< left of the frame, for labels
constexpr double title_room = 30;
constexpr double labels_room = 46;  ///< below

box frame_of(const box& where) {
  return {where.x + axis_room, where.y + title_room, where.width - axis_room - 14,
          where.height - title_room - labels_room};
}

std::string tooltip_of(const result& one) {
  return fmt::format("{}, {} {}: {}{}", title_of(one), name(one.at.what),
                     readable_bytes(one.at.bytes), readable_time(one.median_us),
                     one.is_wrong() ? " WRONG RESULTS" : "");
}

log_axis time_axis(collective what, const std::vector<series>& all, const box& frame) {
  extent times;
  for (const series& one : all) {
    for (const result& each : one.points_of(what)) times.include(each.median_us);
  }
  const double below = bench::has_sizes(what) ? 0.75 : 0.3;
  const double above = bench::has_sizes(what) ? 1.35 : 2;
  return log_axis(times.least * below, times.most * above, frame.bottom(), frame.y);
}

void draw_grid(svg_canvas& canvas, const box& frame, const log_axis& times) {
  for (const double us : decimal_ticks(times)) {
    canvas.line({frame.x, times.at(us)}, {frame.right(), times.at(us)}, bench::grid_line);
    canvas.text({frame.x - 7, times.at(us) + 4}, bench::time_label(us), R"(text-anchor="end")");
  }
}

void draw_names(svg_canvas& canvas, const box& where, collective what) {
  const box frame = frame_of(where);
  canvas.text({frame.x, where.y + 16}, name(what), R"(class="name")");
  const double x = where.x + 8;
  const double middle = frame.y + frame.height / 2;
  const std::string turned = fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", x, middle);
  canvas.text({x, middle}, "time a call", R"(class="small" text-anchor="middle" )" + turned);
  if (!bench::has_sizes(what)) return;
  canvas.text({frame.x + frame.width / 2, frame.bottom() + 31},
              bench::counts_blocks(what) ? "size of one rank's block" : "size of the message",
              R"(class="small" text-anchor="middle")");
}

void draw_size_labels(svg_canvas& canvas, const box& frame, const log_axis& sizes, collective what,
                      const std::vector<series>& all) {
  std::set<std::size_t> shown;
  for (const series& one : all) {
    for (const result& each : one.points_of(what)) shown.insert(each.at.bytes);
  }
  constexpr double label_room = 44;
  double free_from = 0;
  for (const std::size_t bytes : shown) {
    const double at = sizes.at(static_cast<double>(bytes));
    canvas.line({at, frame.bottom()}, {at, frame.bottom() + 3},
                R"(stroke="#8c959f" stroke-width="1")");
    if (at < free_from) continue;
    canvas.text({at, frame.bottom() + 16}, readable_bytes(bytes),
                R"(class="small" text-anchor="middle")");
    free_from = at + label_room;
  }
}

void draw_lines(svg_canvas& canvas, const box& frame, collective what,
                const std::vector<series>& all, const extent& sizes, const log_axis& times) {
  constexpr double room = 14;  // so that the outermost markers stay inside
  const log_axis along(sizes.least, sizes.most, frame.x + room, frame.right() - room);
  for (const series& one : all) {
    std::vector<spot> spots;
    const std::vector<result> points = one.points_of(what);
    for (const result& each : points) {
      spots.push_back({along.at(static_cast<double>(each.at.bytes)), times.at(each.median_us)});
    }
    canvas.path(spots, one.stroke());
    for (std::size_t i = 0; i < points.size(); ++i) {
      draw_marker(canvas, one, spots[i], tooltip_of(points[i]));
    }
  }
  draw_size_labels(canvas, frame, along, what, all);
}

void draw_bars(svg_canvas& canvas, const box& frame, collective what,
               const std::vector<series>& all, const log_axis& times) {
  const double room = frame.width / static_cast<double>(all.size());
  const double width = std::min(0.7 * room, 60.0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double middle = frame.x + (static_cast<double>(i) + 0.5) * room;
    canvas.text({middle, frame.bottom() + 16}, all[i].name,
                R"(class="small" text-anchor="middle")");
    for (const result& each : all[i].points_of(what)) {
      const double top = times.at(each.median_us);
      canvas.open_group(tooltip_of(each));
      canvas.rectangle({middle - width / 2, top, width, frame.bottom() - top},
                       fmt::format(R"(fill="{}" fill-opacity="0.85" rx="1.5")", all[i].colour));
      canvas.close_group();
      canvas.text({middle, top - 4}, readable_time(each.median_us),
                  R"(class="small" text-anchor="middle")");
    }
  }
}

}  // namespace

std::string series::stroke() const {
  return fmt::format(R"(stroke="{}" stroke-width="{}" stroke-opacity="{}" stroke-linejoin="round")",
                     colour, beneath ? 7 : 2, beneath ? 0.35 : 1);
}

std::vector<result> series::points_of(collective what) const {
  std::vector<result> some;
  std::copy_if(points.begin(), points.end(), std::back_inserter(some),
               [what](const result& one) { return one.at.what == what; });
  return some;
}

void extent::include(double value) {
  least = empty() ? value : std::min(least, value);
  most = std::max(most, value);
}

void draw_marker(svg_canvas& canvas, const series& of, spot at, const std::string& tooltip) {
  canvas.circle(at, of.beneath ? 6 : 3.5,
                fmt::format(R"(fill="{}" fill-opacity="{}" stroke="#ffffff" stroke-width="1")",
                            of.colour, of.beneath ? 0.45 : 1),
                tooltip);
}

void draw_panel(svg_canvas& canvas, const box& where, collective what,
                const std::vector<series>& all, const extent& sizes) {
  const box frame = frame_of(where);
  const log_axis times = time_axis(what, all, frame);
  draw_grid(canvas, frame, times);
  canvas.rectangle(frame, bench::frame_line);
  draw_names(canvas, where, what);
  if (bench::has_sizes(what)) {
    draw_lines(canvas, frame, what, all, sizes, times);
  } else {
    draw_bars(canvas, frame, what, all, times);
  }
}

}  // namespace muster::simulator
