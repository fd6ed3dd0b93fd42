// Writing SVG: shapes, text and logarithmic axes.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::bench {

struct spot {
  double x = 0;
  double y = 0;
};

struct box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// Maps values to pixels so that equal factors are equal distances.
class log_axis {
public:
  log_axis(double least, double most, double first_pixel, double last_pixel);
  double at(double value) const;
  double least() const { return least_; }
  double most() const { return most_; }
  bool covers(double value) const { return least_ <= value && value <= most_; }

private:
  double least_;
  double most_;
  double first_pixel_;
  double last_pixel_;
};

/// Values for gridlines between the axis's ends: powers of ten, or 1-2-5 where few of them fit.
std::vector<double> decimal_ticks(const log_axis& axis);
/// Powers of two, every second, fourth, … where there would be more than `most`.
std::vector<double> binary_ticks(const log_axis& axis, std::size_t most);

std::string escaped(std::string_view text);

/// What goes into the file: the SVG, or, if its name says HTML, a page of it.
std::string as_file(const std::filesystem::path& file, std::string_view title, std::string svg);

// How all plots look.
inline constexpr std::string_view plot_style =
    "text{font-family:Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    "font-size:11px;fill:#57606a}"
    ".head{font-size:22px;font-weight:600;fill:#1f2328}"
    ".name{font-size:14px;font-weight:600;fill:#1f2328}"
    ".strong{font-size:13px;fill:#1f2328}"
    ".small{font-size:10px}";
inline constexpr std::string_view grid_line = R"(stroke="#eaeef2" stroke-width="1")";
inline constexpr std::string_view frame_line = R"(fill="none" stroke="#d0d7de" stroke-width="1")";

/// The label of an axis's tick, `20 µs`.
std::string time_label(double us);

/// Collects elements. Attributes are given as the SVG text that they become, such as
/// `fill="#fff"`.
class svg_canvas {
public:
  void line(spot from, spot to, std::string_view attributes);
  void path(std::span<const spot> through, std::string_view attributes);
  void polygon(std::span<const spot> corners, std::string_view attributes);
  void rectangle(const box& where, std::string_view attributes);
  void circle(spot middle, double radius, std::string_view attributes, std::string_view tooltip);
  void text(spot where, std::string_view words, std::string_view attributes);
  void open_group(std::string_view tooltip);
  void close_group();

  /// The whole document.
  std::string document(double width, double height, std::string_view title,
                       std::string_view style) const;

private:
  std::string elements_;
};

}  // namespace muster::bench
