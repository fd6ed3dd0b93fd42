#include "tools/tune/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tools/bench/sizes.hpp"
#include "tools/bench/svg.hpp"

namespace muster::tune {
namespace {

// All lengths are in pixels.
constexpr double margin = 36;
constexpr double team_room = 96;
constexpr double cell_width = 132;
constexpr double cell_height = 30;
constexpr double head_room = 46;

constexpr std::array<std::string_view, 10> colours{"#d0ebff", "#ffe8cc", "#d3f9d8", "#e5dbff",
                                                   "#ffdeeb", "#c5f6fa", "#fff3bf", "#e9ecef",
                                                   "#ffd8a8", "#b2f2bb"};

std::string text_of_team(const spot& at) {
  return fmt::format("{} x {} ranks", at.nodes, at.ranks_a_node);
}

class picture {
public:
  explicit picture(const std::vector<winner>& found) : found_(found) {
    for (const winner& each : found) {
      sizes_.insert(each.at.bytes);
      if (std::ranges::find(collectives_, each.at.what) == collectives_.end()) {
        collectives_.push_back(each.at.what);
      }
    }
  }

  std::string draw(const std::string& machine) {
    canvas_.text({margin, 40}, "The fastest algorithm, " + machine, R"(class="head")");
    double y = 70;
    for (const collective what : collectives_) y = draw_grid(what, y);
    const double width = 2 * margin + team_room + cell_width * static_cast<double>(sizes_.size());
    return canvas_.document(width, y + margin, "The fastest algorithms", bench::plot_style);
  }

private:
  std::string_view colour_of(collective what, const std::string& algorithm) {
    auto& known = colours_[what];
    const auto [place, fresh] = known.try_emplace(algorithm, known.size());
    return colours[place->second % colours.size()];
  }

  double draw_grid(collective what, double y) {
    canvas_.text({margin, y + 16}, name(what), R"(class="name")");
    double x = margin + team_room;
    for (const std::size_t bytes : sizes_) {
      canvas_.text({x + cell_width / 2, y + head_room - 10}, bench::readable_bytes(bytes),
                   R"(class="small" text-anchor="middle")");
      x += cell_width;
    }
    y += head_room;
    std::string team;
    double row = y - cell_height;
    for (const winner& each : found_) {
      if (each.at.what != what) continue;
      if (text_of_team(each.at) != team) {
        team = text_of_team(each.at);
        row += cell_height;
        canvas_.text({margin, row + 19}, team, "");
      }
      draw_cell(each, row);
    }
    return row + cell_height + 14;
  }

  void draw_cell(const winner& one, double y) {
    const auto column = std::distance(sizes_.begin(), sizes_.find(one.at.bytes));
    const double x = margin + team_room + cell_width * static_cast<double>(column);
    if (one.algorithm.empty()) return;
    const std::string next = one.second.empty() ? ""
                                                : fmt::format("; then {}, {}", one.second,
                                                              bench::readable_time(one.second_us));
    canvas_.open_group(fmt::format("{}: {}{}", one.algorithm, bench::readable_time(one.us), next));
    canvas_.rectangle({x + 1, y + 1, cell_width - 2, cell_height - 2},
                      fmt::format(R"(fill="{}" rx="2")", colour_of(one.at.what, one.algorithm)));
    canvas_.text({x + cell_width / 2, y + 14}, one.algorithm,
                 R"(class="small" text-anchor="middle")");
    canvas_.text({x + cell_width / 2, y + 25}, bench::readable_time(one.us),
                 R"(class="small" text-anchor="middle")");
    canvas_.close_group();
  }

  const std::vector<winner>& found_;
  std::set<std::size_t> sizes_;
  std::vector<collective> collectives_;
  std::map<collective, std::map<std::string, std::size_t>> colours_;
  bench::svg_canvas canvas_;
};

}  // namespace

std::string draw_winners(const std::filesystem::path& file, const std::string& machine,
                         const std::vector<winner>& found) {
  return bench::as_file(file, "The fastest algorithms", picture(found).draw(machine));
}

}  // namespace muster::tune
