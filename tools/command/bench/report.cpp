#include "tools/command/bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/sizes.hpp"

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

std::string heading(std::span<const measurement> all, collective what, std::size_t ranks,
                    const late_arrivals* late) {
  const calling how = all.empty() ? calling() : all.front().how;
  const std::string calls = describe(how, has_op(what));
  std::string nodes = nodes_in(all) > 1 ? fmt::format(", Muster's on {} nodes", nodes_in(all)) : "";
  if (!all.empty() && all.front().hosts > 1) {
    nodes = fmt::format(" on {} made hosts", all.front().hosts);
  }
  const std::string_view meaning = counts_blocks(what) ? ", bytes a block" : "";
  const std::string arrivals = late != nullptr ? ", arrivals " + describe(*late) : "";
  return fmt::format("{}, {} ranks{}{}{}{}{}", name(what), ranks, nodes, meaning, arrivals,
                     calls.empty() ? "" : ", ", calls);
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
    const std::string title = title_of(one->who());
    if (one->trips) add(fmt::format("{} {:.1f} trips", title, *one->trips));
    if (one->has_figures() && !one->verified) add(fmt::format("{} WRONG", title));
    if (!one->failure.empty()) add(fmt::format("{} failed", title));
    if (!one->suits) add("does not suit");
  }
  const bool mixed = std::any_of(row.begin(), row.end(), [](const measurement* one) {
    return one != nullptr && one->has_figures() && !one->one_state;
  });
  if (mixed) add("the machine kept changing");
  return text;
}

constexpr std::size_t narrow = 8;
constexpr std::size_t wide = 11;

/// Which columns a table has.
struct columns {
  explicit columns(std::span<const measurement> all)
      : has_ours(!ours_in(all).empty()),
        peers(peers_in(all)),
        has_first(ours_in(all).size() > 1),
        late(late_in(all) != nullptr) {
    for (const measurement& one : all) label = std::max(label, label_of(one).size());
    if (label > 0) label = std::max(label, heading.size());
  }

  static constexpr std::string_view heading = "algorithm";

  bool has_ours;
  std::vector<contender> peers;
  std::size_t label = 0;  ///< letters of the longest algorithm's name; 0: nobody asked for one
  bool has_first;         ///< whether there are several of ours
  bool late;
};

/// Of a library's times.
std::size_t width_of(const contender& who) { return std::max(wide, title_of(who).size() + 2); }

std::string names_of(const columns& shown) {
  std::string text = right("size", narrow);
  if (shown.label > 0) text += fmt::format("  {:<{}}", columns::heading, shown.label);
  if (shown.has_ours) text += right(title_of(library::muster), wide);
  for (const contender& peer : shown.peers) text += right(title_of(peer), width_of(peer));
  text += right("ratio", narrow);
  if (shown.has_first) text += right("to first", narrow + 2);
  return text + right("trip", narrow) + right(shown.late ? "message" : "limit", wide) + "\n";
}

/// One of ours, which may be null, beside the peers. What is of the whole point, not of an
/// algorithm, is told in its first line only.
struct table_line {
  point at;
  const measurement* ours;
  std::vector<const measurement*> peers;
  bool first = true;

  std::vector<const measurement*> everybody() const {
    std::vector<const measurement*> all{ours};
    if (first) all.insert(all.end(), peers.begin(), peers.end());
    return all;
  }
};

std::string time_cell(const measurement* one, std::size_t width) {
  const bool shown = one != nullptr && one->has_figures();
  return right(shown ? readable_time(one->median_us) : std::string(missing), width);
}

/// The trip, and the limit or how long a message takes.
std::string surroundings_of(const table_line& line) {
  std::optional<double> trip_ns;
  std::optional<double> last_us;
  for (const measurement* one : line.everybody()) {
    if (one == nullptr) continue;
    if (one->trip_ns) trip_ns = one->trip_ns;
    if (one->limit_us) last_us = one->limit_us;
    if (one->late) last_us = one->late->message_time_ns / 1e3;
  }
  return right(trip_ns ? fmt::format("{:.0f} ns", *trip_ns) : std::string(missing), narrow) +
         right(last_us ? readable_time(*last_us) : std::string(missing), wide);
}

std::string text_of(const table_line& line, const columns& shown, const table_style& style) {
  const bool sized = line.first && has_sizes(line.at.what);
  std::string text = right(sized ? readable_bytes(line.at.bytes) : "", narrow);
  const std::string label = line.ours != nullptr ? label_of(*line.ours) : "";
  if (shown.label > 0) text += fmt::format("  {:<{}}", label, shown.label);
  if (shown.has_ours) text += time_cell(line.ours, wide);
  for (std::size_t i = 0; i < line.peers.size(); ++i) {
    const std::size_t width = width_of(shown.peers[i]);
    text += line.first ? time_cell(line.peers[i], width) : right("", width);
  }
  const auto ours = line.ours != nullptr ? *line.ours : measurement();
  text += ratio_cell(ours.ratio, narrow, style);
  if (shown.has_first) text += ratio_cell(ours.to_first, narrow + 2, style);
  if (line.first) text += surroundings_of(line);
  return text + remarks(line.everybody()) + "\n";
}

std::string text_of(std::span<const measurement> all, const point& at, const columns& shown,
                    const table_style& style) {
  table_line line{.at = at, .ours = nullptr, .peers = {}};
  for (const contender& peer : shown.peers) line.peers.push_back(find(all, at, peer));
  const auto ours = ours_at(all, at);
  if (ours.empty()) return text_of(line, shown, style);
  std::string text;
  for (const measurement* one : ours) {
    line.ours = one;
    line.first = one == ours.front();
    text += text_of(line, shown, style);
  }
  return text;
}

/// What was asked of RDMA devices; empty where nothing was.
std::string traffic_table(std::span<const measurement> all, collective what, std::size_t ranks) {
  constexpr std::string_view row = "{:>8}  {:<20}{:>9}{:>11}{:>11}{:>13}\n";
  std::string rows;
  for (const measurement& one : all) {
    if (one.at.what != what || one.at.ranks != ranks || !one.sent) continue;
    rows += fmt::format(
        fmt::runtime(row), has_sizes(what) ? readable_bytes(one.at.bytes) : "", title_of(one.who()),
        fmt::format("{:.1f}", one.sent->sends), fmt::format("{:.1f}", one.sent->doorbells),
        fmt::format("{:.0f}", one.sent->bytes), fmt::format("{:g}", one.sent->queue_pairs));
  }
  if (rows.empty()) return "";
  return "posted by a host in a call, and its queue pairs\n" +
         fmt::format(fmt::runtime(row), "size", "library", "sends", "doorbells", "bytes",
                     "queue pairs") +
         rows;
}

using mean_of = std::optional<double>(std::span<const measurement>, const selection&);

std::string table_of_means(std::string_view title, std::span<const measurement> all, mean_of mean,
                           const table_style& style) {
  constexpr std::size_t column = 10;
  if (!mean(all, {})) return "";
  const auto lines = lines_of_means(all);
  std::size_t first = 21;  // reduce_scatter_block
  for (const selection& line : lines) first = std::max(first, title_of(line).size() + 1);
  const std::vector<std::size_t> ranks = ranks_in(all);

  std::string text = fmt::format("{}, geometric means\n{:{}}", title, "", first);
  for (const std::size_t count : ranks) text += right(fmt::format("{} ranks", count), column);
  if (ranks.size() > 1) text += right("all", column);
  text += "\n";
  for (selection line : lines) {
    text += fmt::format("{:<{}}", title_of(line), first);
    for (const std::size_t count : ranks) {
      line.ranks = count;
      text += ratio_cell(mean(all, line), column, style);
    }
    line.ranks.reset();
    if (ranks.size() > 1) text += ratio_cell(mean(all, line), column, style);
    text += "\n";
  }
  return text;
}

}  // namespace

nlohmann::ordered_json to_json(const measurement& one) {
  nlohmann::ordered_json object{{"collective", name(one.at.what)},
                                {"algorithm", one.algorithm},
                                {"library", name_of(one.of)},
                                {"ranks", one.at.ranks},
                                {"nodes", one.nodes},
                                {"hosts", one.hosts},
                                {"bytes", one.at.bytes}};
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
  if (has_op(one.at.what)) object["type"] = name_of_element(one.how.type);
  if (one.how.between_barriers) object["loop"] = "barrier";
  if (one.how.same_buffers) object["buffers"] = "same";
  if (one.how.offset != 0) object["offset"] = one.how.offset;
  if (one.how.excluded) object["excluded"] = true;
  if (one.how.in_torch) object["torch"] = true;
  if (!one.asked.empty()) {
    object["asked"] = one.asked;
    object["suits"] = one.suits;
  }
  if (one.ratio) object["ratio"] = *one.ratio;
  if (one.to_first) object["to_first"] = *one.to_first;
  if (one.limit_us) object["limit_us"] = *one.limit_us;
  if (one.trip_ns) object["trip_ns"] = *one.trip_ns;
  if (one.trips) object["trips"] = *one.trips;
  if (one.sent) {
    object["sends"] = one.sent->sends;
    object["doorbells"] = one.sent->doorbells;
    object["sent_bytes"] = one.sent->bytes;
    object["queue_pairs"] = one.sent->queue_pairs;
  }
  object["samples"] = one.samples;
  object["discarded"] = one.discarded;
  object["one_state"] = one.one_state;
  if (!one.failure.empty()) object["failure"] = one.failure;
  return object;
}

nlohmann::ordered_json to_json(std::span<const measurement> all, const environment_facts& about) {
  auto array = nlohmann::ordered_json::array();
  for (const measurement& one : all) {
    nlohmann::ordered_json object = to_json(one);
    object["machine"] = about.machine;
    object["date"] = about.date;
    for (const std::string& each : about.libraries) {
      if (each.starts_with(title_of(program_of(one.of)))) object["version"] = each;
    }
    array.push_back(std::move(object));
  }
  return array;
}

std::string point_table(std::span<const measurement> all, collective what, std::size_t ranks,
                        const table_style& style) {
  const columns shown(all);
  std::string text = heading(all, what, ranks, late_in(all)) + "\n" + names_of(shown);
  for (const std::size_t bytes : bytes_in(all, what, ranks)) {
    text += text_of(all, {what, ranks, bytes}, shown, style);
  }
  return text + traffic_table(all, what, ranks);
}

std::string summary_table(std::span<const measurement> all, const table_style& style) {
  const std::string peers =
      table_of_means("the better peer's time over Muster's", all, mean_ratio, style);
  const std::string first =
      table_of_means("the first algorithm's time over the others'", all, mean_to_first, style);
  return peers + (peers.empty() || first.empty() ? "" : "\n") + first;
}

}  // namespace muster::bench
