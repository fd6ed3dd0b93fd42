#include "tools/report/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/report/lateness.hpp"
#include "tools/report/sizes.hpp"

namespace muster::profile {
namespace {

using bench::readable_bytes;
using bench::readable_time;
using bench::right;
using nlohmann::ordered_json;

constexpr std::size_t narrow = 9;
constexpr std::size_t wide = 18;
constexpr const char* missing = "-";

std::string share(double value) { return fmt::format("{:.0f} %", 100 * value); }

std::string row(const site& one, const std::string& title, std::size_t title_width) {
  const figures& seen = one.figures;
  std::string text = fmt::format("{:<{}}", title, title_width);
  for (const std::string& cell :
       {std::to_string(one.calls), readable_bytes(one.bytes),
        readable_time(static_cast<double>(one.message_time.count()) / 1e3)}) {
    text += right(cell, narrow);
  }
  if (one.kept.empty()) return text + right(missing, narrow);
  for (const std::string& cell :
       {readable_factor(seen.average_case.mean), readable_factor(seen.average_case.most),
        readable_factor(seen.worst_case.mean), readable_factor(seen.worst_case.most),
        readable_time(seen.time_in_call_ns / 1e3), share(seen.waiting_share)}) {
    text += right(cell, narrow);
  }
  return text + right(fmt::format("rank {}, {}", seen.last_rank, share(seen.last_share)), wide);
}

/// What the figures do not cover, if anything.
std::string remarks(const site& one) {
  std::string text;
  if (one.ranks.size() < one.team_size) {
    text += fmt::format("  {} of {} ranks", one.ranks.size(), one.team_size);
  }
  if (one.kept.size() < one.calls) text += fmt::format("  {} kept", one.kept.size());
  if (one.failed != 0) text += fmt::format("  {} failed", one.failed);
  return text;
}

std::string head(std::size_t title_width) {
  std::string text = fmt::format("{:<{}}", "call site", title_width);
  for (const char* const cell :
       {"calls", "bytes", "T", "d/T", "most", "Δ/T", "most", "in call", "waiting"}) {
    text += right(cell, narrow);
  }
  return text + right("mostly last", wide) + "\n";
}

ordered_json to_json(const mean_and_most& both) {
  return {{"mean", both.mean}, {"most", both.most}};
}

ordered_json to_json(const site& one) {
  ordered_json object;
  object["call"] = one.what;
  object["algorithm"] = one.algorithm;
  object["team"] = fmt::format("{:016x}", one.team);
  object["team_size"] = one.team_size;
  object["ranks"] = one.ranks;
  object["calls"] = one.calls;
  object["kept"] = one.kept.size();
  object["failed"] = one.failed;
  object["bytes"] = one.bytes;
  object["message_time_ns"] = one.message_time.count();
  if (one.kept.empty()) return object;
  object["average_case_imbalance_factor"] = to_json(one.figures.average_case);
  object["worst_case_imbalance_factor"] = to_json(one.figures.worst_case);
  object["time_in_call_ns"] = one.figures.time_in_call_ns;
  object["waiting_share"] = one.figures.waiting_share;
  object["last_rank"] = one.figures.last_rank;
  object["last_share"] = one.figures.last_share;
  return object;
}

ordered_json to_json(const lateness& one) {
  return {{"ranks", one.ranks},
          {"first_call", one.first_call},
          {"first_arrival_ns", one.first_arrival_ns},
          {"ns", one.ns}};
}

/// When the job's first call began.
std::int64_t start_of(const job& of) {
  std::optional<std::int64_t> first;
  for (const site& one : of.sites) {
    if (one.kept.empty()) continue;
    const std::int64_t here = one.kept.front().first_arrival();
    first = std::min(first.value_or(here), here);
  }
  return first.value_or(0);
}

ordered_json sites_of(const job& of) {
  constexpr std::size_t most_drawn = 8;
  std::size_t drawn = 0;
  auto sites = ordered_json::array();
  for (const site& one : of.sites) {
    sites.push_back(to_json(one));
    if (one.kept.empty() || drawn == most_drawn) continue;
    sites.back()["lateness"] = to_json(lateness_of(one, start_of(of)));
    ++drawn;
  }
  return sites;
}

ordered_json delays_of(const site& one) {
  auto calls = ordered_json::array();
  for (const call& each : one.kept) {
    auto delays = ordered_json::array();
    for (const visit& rank : each.ranks) delays.push_back(rank.arrived - each.first_arrival());
    calls.push_back(std::move(delays));
  }
  return calls;
}

}  // namespace

std::string readable_factor(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string title_of(const site& of, const job& in) {
  std::string text = of.what + ": " + of.algorithm;
  if (of.team_size < in.ranks) text += ", ranks " + list_ranks(of.ranks);
  return text;
}

std::string table(const job& of) {
  std::size_t title_width = std::string_view("call site").size();
  for (const site& one : of.sites) {
    title_width = std::max(title_width, title_of(one, of).size());
  }
  std::string text = head(title_width);
  for (const site& one : of.sites) {
    text += row(one, title_of(one, of), title_width) + remarks(one) + "\n";
  }
  text +=
      "\nd: distance of an arrival from their mean, on average; Δ: from the first arrival to the "
      "last;\nT: what a message of so many bytes takes; waiting: share of the time in the call "
      "before the last came\n";
  if (!of.missing.empty()) {
    text += fmt::format("no record of rank{} {}\n", of.missing.size() == 1 ? "" : "s",
                        list_ranks(of.missing));
  }
  if (of.clock_error_ns) {
    text += fmt::format(
        "times of different hosts are right to each other within {}, at the beginning\n",
        readable_time(static_cast<double>(*of.clock_error_ns) / 1e3));
  }
  if (of.left_out != 0) {
    text += fmt::format("{} calls of further call sites were not recorded\n", of.left_out);
  }
  return text;
}

ordered_json to_json(const job& of) {
  ordered_json object;
  object["ranks"] = of.ranks;
  object["missing"] = of.missing;
  object["left_out"] = of.left_out;
  if (of.clock_error_ns) object["clock_error_ns"] = *of.clock_error_ns;
  object["sites"] = sites_of(of);
  const auto whole = std::ranges::find_if(
      of.sites, [&](const site& one) { return one.ranks.size() == of.ranks && !one.kept.empty(); });
  if (whole == of.sites.end()) return object;
  object["unit"] = "ns";
  object["delays_of"] = title_of(*whole, of);
  object["delays"] = delays_of(*whole);
  return object;
}

}  // namespace muster::profile
