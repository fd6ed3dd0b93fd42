#include "tools/bench/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace muster::bench {
namespace {

std::string points_text(std::span<const spot> points) {
  std::string text;
  for (const spot& one : points) {
    fmt::format_to(std::back_inserter(text), "{}{:.1f},{:.1f}", text.empty() ? "" : " ", one.x,
                   one.y);
  }
  return text;
}

std::string title_element(std::string_view tooltip) {
  return tooltip.empty() ? std::string() : fmt::format("<title>{}</title>", escaped(tooltip));
}

}  // namespace

log_axis::log_axis(double least, double most, double first_pixel, double last_pixel)
    : least_(least),
      most_(std::max(most, least * 1.0001)),
      first_pixel_(first_pixel),
      last_pixel_(last_pixel) {}

double log_axis::at(double value) const {
  const double share = std::log(value / least_) / std::log(most_ / least_);
  return std::lerp(first_pixel_, last_pixel_, share);
}

std::vector<double> decimal_ticks(const log_axis& axis) {
  constexpr double enough = 3;
  std::vector<double> powers;
  std::vector<double> between;
  const double first = std::pow(10, std::floor(std::log10(axis.least())));
  for (double power = first; power <= axis.most(); power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (!axis.covers(power * factor)) continue;
      between.push_back(power * factor);
      if (factor == 1.0) powers.push_back(power);
    }
  }
  return static_cast<double>(powers.size()) >= enough ? powers : between;
}

std::vector<double> binary_ticks(const log_axis& axis, std::size_t most) {
  const int first = static_cast<int>(std::ceil(std::log2(axis.least()) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(axis.most()) + 1e-9));
  int step = 1;
  while (static_cast<std::size_t>((last - first) / step + 1) > most) step *= 2;
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % step == 0) ticks.push_back(std::exp2(exponent));
  }
  return ticks;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string time_label(double us) {
  if (us >= 1e6) return fmt::format("{:g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:g} ms", us / 1e3);
  return fmt::format("{:g} µs", us);
}

std::string as_file(const std::filesystem::path& file, std::string_view title, std::string svg) {
  if (file.extension() != ".html" && file.extension() != ".htm") return svg;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>{}</title>\n<style>body{{margin:0;background:#fff}}"
      "svg{{display:block;margin:0 auto;max-width:100%;height:auto}}</style></head>\n"
      "<body>\n{}</body>\n</html>\n",
      escaped(title), svg);
}

void svg_canvas::line(spot from, spot to, std::string_view attributes) {
  fmt::format_to(std::back_inserter(elements_),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x,
                 from.y, to.x, to.y, attributes);
}

void svg_canvas::path(std::span<const spot> through, std::string_view attributes) {
  fmt::format_to(std::back_inserter(elements_), "<polyline points=\"{}\" fill=\"none\" {}/>\n",
                 points_text(through), attributes);
}

void svg_canvas::polygon(std::span<const spot> corners, std::string_view attributes) {
  fmt::format_to(std::back_inserter(elements_), "<polygon points=\"{}\" {}/>\n",
                 points_text(corners), attributes);
}

void svg_canvas::rectangle(const box& where, std::string_view attributes) {
  fmt::format_to(std::back_inserter(elements_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n",
                 where.x, where.y, where.width, where.height, attributes);
}

void svg_canvas::circle(spot middle, double radius, std::string_view attributes,
                        std::string_view tooltip) {
  fmt::format_to(std::back_inserter(elements_),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}>{}</circle>\n", middle.x,
                 middle.y, radius, attributes, title_element(tooltip));
}

void svg_canvas::text(spot where, std::string_view words, std::string_view attributes) {
  fmt::format_to(std::back_inserter(elements_), "<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n",
                 where.x, where.y, attributes, escaped(words));
}

void svg_canvas::open_group(std::string_view tooltip) {
  elements_ += "<g>" + title_element(tooltip);
}

void svg_canvas::close_group() { elements_ += "</g>\n"; }

std::string svg_canvas::document(double width, double height, std::string_view title,
                                 std::string_view style) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>{3}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      width, height, escaped(title), style, elements_);
}

}  // namespace muster::bench
