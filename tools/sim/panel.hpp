// One panel of the plot: a collective's times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/svg.hpp"
#include "tools/sim/plan.hpp"

namespace muster::simulator {

/// What was asked for, at all points where there are figures.
struct series {
  std::string name;
  std::string_view colour;
  bool beneath = false;  ///< broad and pale, so that a line that it coincides with is seen, too
  std::vector<result> points;

  /// The attributes of its line.
  std::string stroke() const;
  std::vector<result> points_of(collective what) const;
};

/// From the least to the most of some values.
struct extent {
  double least = 0;
  double most = 0;
  void include(double value);
  bool empty() const { return most == 0; }
};

/// A dot or, beneath others, a larger one.
void draw_marker(bench::svg_canvas& canvas, const series& of, bench::spot at,
                 const std::string& tooltip);

/// Times against sizes, on an axis over `sizes`; or bars where a collective has none.
void draw_panel(bench::svg_canvas& canvas, const bench::box& where, collective what,
                const std::vector<series>& all, const extent& sizes);

}  // namespace muster::simulator
