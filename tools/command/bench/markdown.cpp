#include "tools/command/bench/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tools/command/bench/report.hpp"
#include "tools/report/sizes.hpp"

namespace muster::bench {
namespace {

constexpr std::string_view means = "means";

std::string marker(std::string_view of) { return fmt::format("<!-- muster bench: {} -->\n", of); }
std::string marker(std::size_t ranks) { return marker(fmt::format("{} ranks", ranks)); }
std::string end_marker() { return marker("end"); }

/// Microseconds to about three digits: `0.13`, `4.70`, `1359`.
std::string microseconds(std::optional<double> us) {
  if (!us) return "–";
  return fmt::format("{:.{}f}", *us, *us < 10 ? 2 : *us < 100 ? 1 : 0);
}

std::string ratio_text(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "–";
}

bool algorithms_asked(std::span<const measurement> all) {
  return std::any_of(all.begin(), all.end(),
                     [](const measurement& one) { return !one.asked.empty(); });
}

bool several_asked(std::span<const measurement> all) { return ours_in(all).size() > 1; }

std::string time_text(const measurement* one) {
  if (one == nullptr || !one->has_figures()) return microseconds(std::nullopt);
  return (one->verified ? "" : "WRONG ") + microseconds(one->median_us);
}

bool is_wrong(const measurement* one) {
  return one != nullptr && one->has_figures() && !one->verified;
}

/// One of ours, which may be null, beside the peers.
std::string row_of(std::span<const measurement> all, const point& at, const measurement* ours) {
  std::string row =
      fmt::format("| {} | {} |", name(at.what), has_sizes(at.what) ? readable_bytes(at.bytes) : "");
  const measurement one = ours != nullptr ? *ours : measurement();
  std::optional<double> limit;
  if (ours != nullptr) limit = ours->limit_us;
  bool any_wrong = is_wrong(ours);
  if (algorithms_asked(all)) row += fmt::format(" {} |", label_of(one));
  if (!ours_in(all).empty()) row += fmt::format(" {} |", time_text(ours));
  for (const contender& peer : peers_in(all)) {
    const measurement* const its = find(all, at, peer);
    row += fmt::format(" {} |", time_text(its));
    any_wrong = any_wrong || is_wrong(its);
    if (its != nullptr && its->limit_us) limit = its->limit_us;
  }
  row += fmt::format(" {} |", ratio_text(any_wrong ? std::nullopt : one.ratio));
  if (several_asked(all)) {
    row += fmt::format(" {} |", ratio_text(is_wrong(ours) ? std::nullopt : one.to_first));
  }
  return row + fmt::format(" {} |\n", microseconds(limit));
}

/// A row for each of ours.
std::string rows_of(std::span<const measurement> all, const point& at) {
  const auto ours = ours_at(all, at);
  if (ours.empty()) return row_of(all, at, nullptr);
  std::string rows;
  for (const measurement* one : ours) rows += row_of(all, at, one);
  return rows;
}

std::vector<std::string> column_names(std::span<const measurement> all) {
  std::vector<std::string> names{"", "size"};
  if (algorithms_asked(all)) names.emplace_back("algorithm");
  if (!ours_in(all).empty()) {
    const std::size_t nodes = nodes_in(all);
    names.push_back(nodes > 1 ? fmt::format("Muster on {} nodes", nodes) : "Muster");
  }
  for (const contender& peer : peers_in(all)) names.push_back(title_of(peer));
  names.emplace_back("ratio");
  if (several_asked(all)) names.emplace_back("to first");
  names.emplace_back("limit");
  return names;
}

/// The names and the rule below them.
std::string head_of(std::span<const std::string> names) {
  std::string head = "|";
  std::string rule = "|";
  for (const std::string& name : names) {
    head += name.empty() ? " |" : fmt::format(" {} |", name);
    rule += "---|";
  }
  return head + "\n" + rule + "\n";
}

/// What was asked of RDMA devices; empty where nothing was.
std::string traffic_table(std::span<const measurement> all, std::size_t ranks) {
  std::string rows;
  for (const measurement& one : all) {
    if (one.at.ranks != ranks || !one.sent) continue;
    rows +=
        fmt::format("| {} | {} | {} | {:.1f} | {:.1f} | {:.0f} | {:g} |\n", name(one.at.what),
                    has_sizes(one.at.what) ? readable_bytes(one.at.bytes) : "", title_of(one.who()),
                    one.sent->sends, one.sent->doorbells, one.sent->bytes, one.sent->queue_pairs);
  }
  if (rows.empty()) return "";
  const std::array<std::string, 7> names{"",          "size",  "library",    "sends",
                                         "doorbells", "bytes", "queue pairs"};
  return "\nPosted by a host in a call, and its queue pairs:\n\n" + head_of(names) + rows;
}

using mean_of = std::optional<double>(std::span<const measurement>, const selection&);

std::string title_of_line(const selection& line) {
  if (line.what) return title_of(line);
  const std::string asked = line.asked.value_or("");
  return fmt::format("**all points{}{}**", asked.empty() ? "" : ", ", asked);
}

std::string table_of_means(std::span<const measurement> all, mean_of mean) {
  const std::vector<std::size_t> ranks = ranks_in(all);
  std::vector<std::string> names{""};
  for (const std::size_t count : ranks) names.push_back(fmt::format("{} ranks", count));
  std::string table = head_of(names);
  for (selection line : lines_of_means(all)) {
    table += fmt::format("| {} |", title_of_line(line));
    for (const std::size_t count : ranks) {
      line.ranks = count;
      table += fmt::format(" {} |", ratio_text(mean(all, line)));
    }
    table += "\n";
  }
  return table;
}

/// What follows the marker, up to the next end; both places within the document.
struct gap {
  std::size_t begin = 0;
  std::size_t end = 0;
};

gap find_gap(std::string_view document, const std::string& from) {
  const auto require = [](std::size_t at, const std::string& what) {
    if (at != std::string_view::npos) return at;
    throw std::runtime_error(fmt::format("no place for the tables; expected a line {}",
                                         what.substr(0, what.size() - 1)));
  };
  const std::size_t begin = require(document.find(from), from) + from.size();
  return {begin, require(document.find(end_marker(), begin), end_marker())};
}

void fill(std::string& document, const std::string& from, const std::string& table) {
  const gap where = find_gap(document, from);
  document.replace(where.begin, where.end - where.begin, "\n" + table + "\n");
}

bool has_place(std::string_view document, const std::string& from) {
  return document.find(from) != std::string_view::npos;
}

/// Throws where there is no place for any table, or one does not end.
void require_places(std::string_view document, std::span<const std::size_t> ranks) {
  bool any = has_place(document, marker(means));
  if (any) find_gap(document, marker(means));
  for (const std::size_t count : ranks) {
    if (!has_place(document, marker(count))) continue;
    find_gap(document, marker(count));
    any = true;
  }
  if (!any && !ranks.empty()) find_gap(document, marker(ranks.front()));
}

}  // namespace

std::string markdown_table(std::span<const measurement> all, std::size_t ranks) {
  std::string table = head_of(column_names(all));
  for (const collective what : collectives_in(all)) {
    for (const std::size_t bytes : bytes_in(all, what, ranks)) {
      table += rows_of(all, {what, ranks, bytes});
    }
  }
  return table + traffic_table(all, ranks);
}

std::string markdown_means(std::span<const measurement> all) {
  const std::string table = table_of_means(all, mean_ratio);
  if (!mean_to_first(all, {})) return table;
  return table + "\nThe first algorithm's time over the others':\n\n" +
         table_of_means(all, mean_to_first);
}

std::string refreshed(std::string_view document, std::span<const measurement> all) {
  require_places(document, ranks_in(all));
  std::string text(document);
  if (has_place(text, marker(means))) fill(text, marker(means), markdown_means(all));
  for (const std::size_t ranks : ranks_in(all)) {
    if (has_place(text, marker(ranks))) fill(text, marker(ranks), markdown_table(all, ranks));
  }
  return text;
}

std::string new_document(std::span<const std::size_t> ranks) {
  std::string text = "The better peer's time over Muster's, geometric means:\n\n" + marker(means) +
                     end_marker() +
                     "\nMicroseconds a call; the better peer's time over Muster's; and the least "
                     "that the machine allows.\n";
  for (const std::size_t count : ranks) {
    text += fmt::format("\n## {} ranks\n\n", count) + marker(count) + end_marker();
  }
  return text;
}

std::string document_for_tables(const std::filesystem::path& file,
                                std::span<const std::size_t> ranks) {
  if (!std::filesystem::exists(file)) return new_document(ranks);
  std::ifstream stream(file);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  require_places(text, ranks);
  return text;
}

}  // namespace muster::bench
