#include "tools/command/sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/command/sim/run.hpp"
#include "tools/report/sizes.hpp"

namespace muster::simulator {
namespace {

using bench::readable_bytes;
using bench::readable_time;
using bench::right;
using nlohmann::ordered_json;

constexpr std::size_t narrow = 9;
constexpr std::size_t wide = 19;  ///< of an algorithm's name

std::string count(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (value != std::floor(value)) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string bytes(double value) {
  return readable_bytes(static_cast<std::size_t>(std::llround(value)));
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double most(std::span<const double> values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string figures(const result& one) {
  const work& node = one.busiest_node;
  std::string text = right(readable_time(one.median_us), narrow);
  for (const std::string& cell :
       {count(node.sends), bytes(node.sent_bytes), count(node.connections), count(node.node_sends),
        bytes(node.node_bytes), bytes(node.shared_written), bytes(node.shared_read),
        bytes(node.memory), readable_time(mean(one.waiting_us)),
        readable_time(most(one.waiting_us))}) {
    text += right(cell, narrow);
  }
  if (one.is_wrong()) text += "  WRONG RESULTS";
  return text;
}

/// Whole numbers as such.
ordered_json number(double value) {
  if (value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

ordered_json to_json(const work& one) {
  return {{"sends", number(one.sends)},
          {"sent_bytes", number(one.sent_bytes)},
          {"connections", number(one.connections)},
          {"node_sends", number(one.node_sends)},
          {"node_bytes", number(one.node_bytes)},
          {"shared_written", number(one.shared_written)},
          {"shared_read", number(one.shared_read)},
          {"memory", number(one.memory)}};
}

/// What was asked for, and what it took.
ordered_json identity(const job& how, const result& one) {
  ordered_json object{{"collective", name(one.at.what)},
                      {"algorithm", one.algorithm},
                      {"asked", one.at.asked},
                      {"machine", how.model.name},
                      {"nodes", how.nodes},
                      {"ranks_a_node", how.ranks_a_node},
                      {"ranks", how.ranks()},
                      {"bytes", one.at.bytes},
                      {"calls", how.calls},
                      {"seed", how.seed}};
  object["arrivals"] = how.late ? ordered_json(how.late->text) : ordered_json();
  if (one.message_time_ns) object["message_time_ns"] = *one.message_time_ns;
  object["suits"] = one.suits;
  object["median_us"] = one.has_figures() ? ordered_json(one.median_us) : ordered_json();
  object["verified"] =
      one.payload && one.has_figures() ? ordered_json(one.verified) : ordered_json();
  return object;
}

void add_figures(ordered_json& object, const result& one) {
  object["times_us"] = one.times_us;
  object["a_call"] = to_json(one.all);
  object["a_call_busiest_node"] = to_json(one.busiest_node);
  object["waiting_mean_us"] = mean(one.waiting_us);
  object["waiting_most_us"] = most(one.waiting_us);
  object["waiting_us"] = one.waiting_us;
  object["virtual_us"] = sim::to_ns(one.virtual_time) / 1e3;
  object["events"] = one.events;
}

}  // namespace

std::string describe_ranks(const job& how) {
  return fmt::format("{}, {} node{} x {} rank{}", how.model.name, how.nodes,
                     how.nodes == 1 ? "" : "s", how.ranks_a_node, how.ranks_a_node == 1 ? "" : "s");
}

std::string describe(const job& how) {
  std::string text = describe_ranks(how);
  if (how.late) text += ", arrivals " + how.late->text;
  return text + fmt::format(", seed {}", how.seed);
}

std::string title_of(const result& one) {
  return one.at.asked == automatic && !one.algorithm.empty() ? "auto: " + one.algorithm
                                                             : one.at.asked;
}

std::string table_head(const job& how, collective what) {
  std::string text = fmt::format("{}, {}{}\n", name(what), describe(how),
                                 bench::counts_blocks(what) ? "; bytes a block" : "");
  text += right("to other nodes, a node", narrow + wide + 1 + 4 * narrow) +
          right("within the node", 4 * narrow) + right("a node", narrow) + right("a rank", narrow) +
          "\n";
  text += right("size", narrow) + fmt::format("  {:<{}}", "algorithm", wide - 1);
  for (const char* name : {"time", "sends", "bytes", "conns", "sends", "bytes", "written", "read",
                           "memory", "waits", "at most"}) {
    text += right(name, narrow);
  }
  return text;
}

std::string table_row(const result& one) {
  std::string text =
      right(bench::has_sizes(one.at.what) ? readable_bytes(one.at.bytes) : "", narrow);
  text += fmt::format("  {:<{}}", title_of(one), wide - 1);
  if (!one.suits) return text + "  does not suit these ranks and this size";
  if (!one.failure.empty()) return text + "  failed: " + first_line(one.failure);
  return text + figures(one);
}

std::string summary(const job& how, std::span<const result> all) {
  double virtual_us = 0;
  double host_us = 0;
  double events = 0;
  std::size_t unverified = 0;
  for (const result& one : all) {
    virtual_us += sim::to_ns(one.virtual_time) / 1e3;
    host_us += one.host_s * 1e6;
    events += static_cast<double>(one.events);
    if (one.has_figures() && !one.payload) ++unverified;
  }
  std::string text = fmt::format("{} of virtual time in {}, {} events\n", readable_time(virtual_us),
                                 readable_time(host_us), count(events));
  if (unverified == 0) return text;
  const std::string why = how.payload ? fmt::format(": their buffers take more than {}",
                                                    readable_bytes(most_payload_bytes))
                                      : "";
  return text + fmt::format("{} of {} points without payload, nothing of theirs is verified{}\n",
                            unverified, all.size(), why);
}

ordered_json to_json(const job& how, const result& one) {
  ordered_json object = identity(how, one);
  if (one.has_figures()) add_figures(object, one);
  if (!one.failure.empty()) object["failure"] = one.failure;
  return object;
}

ordered_json to_json(const job& how, std::span<const result> all) {
  auto array = ordered_json::array();
  for (const result& one : all) array.push_back(to_json(how, one));
  return array;
}

ordered_json times_to_json(const job& how, std::span<const result> all) {
  auto array = ordered_json::array();
  for (const result& one : all) array.push_back(identity(how, one));
  return array;
}

}  // namespace muster::simulator
