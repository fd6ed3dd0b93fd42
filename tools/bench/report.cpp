#include "tools/bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/bench/sizes.hpp"

namespace muster::bench {
namespace {

constexpr std::string_view missing = "–";

std::string ratio_cell(std::optional<double> ratio, std::size_t width, const table_style& style) {
  if (!ratio) return right(missing, width);
  const std::string text = right(fmt::format("{:.2f}", *ratio), width);
  if (!style.colours) return text;
  const char* const colour = *ratio >= 1.0 ? "\033[32m" : "\033[31m";
  return colour + text + "\033[0m";
}

std::string heading(collective what, std::size_t ranks, const late_arrivals* late) {
  const std::string_view meaning = counts_blocks(what) ? ", bytes a block" : "";
  const std::string arrivals = late != nullptr ? ", arrivals " + describe(*late) : "";
  return fmt::format("{}, {} ranks{}{}", name(what), ranks, meaning, arrivals);
}

/// How ranks came late to what is in the table; the same for all of a run.
const late_arrivals* late_in(std::span<const measurement> all) {
  return !all.empty() && all.front().late ? &*all.front().late : nullptr;
}

/// What a reader must know about a row beyond its figures.
std::string remarks(std::span<const measurement* const> row) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "  " : ", ") + more; };
  for (const measurement* one : row) {
    if (one == nullptr) continue;
    if (one->trips) add(fmt::format("{} {:.1f} trips", title_of(one->of), *one->trips));
    if (one->has_figures() && !one->verified) add(fmt::format("{} WRONG", title_of(one->of)));
    if (!one->failure.empty()) add(fmt::format("{} failed", title_of(one->of)));
  }
  const bool mixed = std::any_of(row.begin(), row.end(), [](const measurement* one) {
    return one != nullptr && one->has_figures() && !one->one_state;
  });
  if (mixed) add("the machine kept changing");
  return text;
}

}  // namespace

nlohmann::ordered_json to_json(const measurement& one) {
  nlohmann::ordered_json object{
      {"collective", name(one.at.what)}, {"algorithm", one.algorithm}, {"library", name_of(one.of)},
      {"ranks", one.at.ranks},           {"nodes", one.nodes},         {"bytes", one.at.bytes}};
  const auto figure = [&](const char* name, double us) {
    if (one.has_figures()) {
      object[name] = us;
    } else {
      object[name] = nullptr;
    }
  };
  figure("median_us", one.median_us);
  figure("p10_us", one.p10_us);
  figure("p90_us", one.p90_us);
  object["verified"] = one.verified;
  if (one.late) {
    object["arrivals"] = one.late->pattern;
    object["seed"] = one.late->seed;
    object["message_time_ns"] = one.late->message_time_ns;
  }
  if (one.ratio) object["ratio"] = *one.ratio;
  if (one.limit_us) object["limit_us"] = *one.limit_us;
  if (one.trip_ns) object["trip_ns"] = *one.trip_ns;
  if (one.trips) object["trips"] = *one.trips;
  object["samples"] = one.samples;
  object["discarded"] = one.discarded;
  object["one_state"] = one.one_state;
  if (!one.failure.empty()) object["failure"] = one.failure;
  return object;
}

nlohmann::ordered_json to_json(std::span<const measurement> all) {
  auto array = nlohmann::ordered_json::array();
  for (const measurement& one : all) array.push_back(to_json(one));
  return array;
}

std::string point_table(std::span<const measurement> all, collective what, std::size_t ranks,
                        const table_style& style) {
  constexpr std::size_t narrow = 8;
  constexpr std::size_t wide = 11;
  const std::vector<library> libraries = libraries_in(all);

  const bool late = late_in(all) != nullptr;
  std::string text = heading(what, ranks, late_in(all)) + "\n" + right("size", narrow);
  for (const library which : libraries) text += right(title_of(which), wide);
  text += right("ratio", narrow) + right("trip", narrow);
  text += right(late ? "message" : "limit", wide) + "\n";

  for (const std::size_t bytes : bytes_in(all, what, ranks)) {
    std::vector<const measurement*> row;
    std::optional<double> ratio;
    std::optional<double> trip_ns;
    std::optional<double> last_us;  // the limit, or how long a message takes
    text += right(has_sizes(what) ? readable_bytes(bytes) : "", narrow);
    for (const library which : libraries) {
      const measurement* const one = find(all, {what, ranks, bytes}, which);
      row.push_back(one);
      const bool shown = one != nullptr && one->has_figures();
      text += right(shown ? readable_time(one->median_us) : std::string(missing), wide);
      if (one != nullptr && one->ratio) ratio = one->ratio;
      if (one != nullptr && one->trip_ns) trip_ns = one->trip_ns;
      if (one != nullptr && one->limit_us) last_us = one->limit_us;
      if (one != nullptr && one->late) last_us = one->late->message_time_ns / 1e3;
    }
    text += ratio_cell(ratio, narrow, style);
    text += right(trip_ns ? fmt::format("{:.0f} ns", *trip_ns) : std::string(missing), narrow);
    text += right(last_us ? readable_time(*last_us) : std::string(missing), wide);
    text += remarks(row) + "\n";
  }
  return text;
}

std::string summary_table(std::span<const measurement> all, const table_style& style) {
  constexpr std::size_t first = 21;  // reduce_scatter_block
  constexpr std::size_t wide = 10;
  const std::vector<std::size_t> ranks = ranks_in(all);
  const auto row = [&](std::string_view name, std::optional<collective> what) {
    std::string line = fmt::format("{:<{}}", name, first);
    for (const std::size_t count : ranks) {
      line += ratio_cell(mean_ratio(all, what, count), wide, style);
    }
    if (ranks.size() > 1) line += ratio_cell(mean_ratio(all, what, std::nullopt), wide, style);
    return line + "\n";
  };

  std::string text = "the better peer's time over Muster's, geometric means\n";
  text += std::string(first, ' ');
  for (const std::size_t count : ranks) text += right(fmt::format("{} ranks", count), wide);
  if (ranks.size() > 1) text += right("all", wide);
  text += "\n";
  for (const collective what : collectives_in(all)) text += row(name(what), what);
  return text + row("all", std::nullopt);
}

}  // namespace muster::bench
