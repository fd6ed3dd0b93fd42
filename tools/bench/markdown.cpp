#include "tools/bench/markdown.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tools/bench/report.hpp"
#include "tools/bench/sizes.hpp"

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

std::string row_of(std::span<const measurement> all, const point& at) {
  std::string row =
      fmt::format("| {} | {} |", name(at.what), has_sizes(at.what) ? readable_bytes(at.bytes) : "");
  std::optional<double> ratio;
  std::optional<double> limit;
  bool any_wrong = false;
  for (const library which : libraries_in(all)) {
    const measurement* const one = find(all, at, which);
    const bool shown = one != nullptr && one->has_figures();
    const bool wrong = shown && !one->verified;
    any_wrong = any_wrong || wrong;
    row += fmt::format(" {}{} |", wrong ? "WRONG " : "",
                       microseconds(shown ? std::optional(one->median_us) : std::nullopt));
    if (one != nullptr && one->ratio) ratio = one->ratio;
    if (one != nullptr && one->limit_us) limit = one->limit_us;
  }
  if (any_wrong) ratio.reset();
  return row + fmt::format(" {} | {} |\n", ratio_text(ratio), microseconds(limit));
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

bool has_means(std::string_view document) {
  return document.find(marker(means)) != std::string_view::npos;
}

}  // namespace

std::string markdown_table(std::span<const measurement> all, std::size_t ranks) {
  std::string head = "| | size |";
  std::string rule = "|---|---|";
  for (const library which : libraries_in(all)) {
    head += fmt::format(" {} |", title_of(which));
    rule += "---|";
  }
  std::string table = head + " ratio | limit |\n" + rule + "---|---|\n";
  for (const collective what : collectives_in(all)) {
    for (const std::size_t bytes : bytes_in(all, what, ranks)) {
      table += row_of(all, {what, ranks, bytes});
    }
  }
  return table;
}

std::string markdown_means(std::span<const measurement> all) {
  const std::vector<std::size_t> ranks = ranks_in(all);
  std::string table = "| |";
  std::string rule = "|---|";
  for (const std::size_t count : ranks) {
    table += fmt::format(" {} ranks |", count);
    rule += "---|";
  }
  table += "\n" + rule + "\n";
  const auto add_row = [&](const std::string& title, std::optional<collective> what) {
    table += "| " + title + " |";
    for (const std::size_t count : ranks) {
      table += fmt::format(" {} |", ratio_text(mean_ratio(all, what, count)));
    }
    table += "\n";
  };
  for (const collective what : collectives_in(all)) add_row(std::string(name(what)), what);
  add_row("**all points**", std::nullopt);
  return table;
}

std::string refreshed(std::string_view document, std::span<const measurement> all) {
  std::string text(document);
  if (has_means(text)) fill(text, marker(means), markdown_means(all));
  for (const std::size_t ranks : ranks_in(all)) {
    fill(text, marker(ranks), markdown_table(all, ranks));
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
  if (has_means(text)) find_gap(text, marker(means));
  for (const std::size_t count : ranks) find_gap(text, marker(count));
  return text;
}

}  // namespace muster::bench
