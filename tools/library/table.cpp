#include "tools/library/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "tools/library/built_in_tables.hpp"

namespace muster::tune {
namespace {

using json = nlohmann::ordered_json;
using range = selection_table::range;

constexpr std::size_t without_end = range{}.last;

json to_json(const range& of) {
  json ends = json::array({of.first, nullptr});
  if (of.last != without_end) ends[1] = of.last;
  return ends;
}

[[noreturn]] void refuse(std::string_view origin, std::string_view where, std::string_view what) {
  throw error(errc::invalid_argument, fmt::format("{}: {}: {}", origin, where, what));
}

range parse_range(const json& rule, const char* key, std::string_view origin,
                  std::string_view where) {
  if (!rule.contains(key)) return {};
  const json& ends = rule.at(key);
  const bool pair = ends.is_array() && ends.size() == 2 && ends[0].is_number_unsigned() &&
                    (ends[1].is_null() || ends[1].is_number_unsigned());
  if (!pair) {
    refuse(origin, where, fmt::format("{}: expected [first, last], or null for no end", key));
  }
  range result{ends[0].get<std::size_t>(), without_end};
  if (!ends[1].is_null()) result.last = ends[1].get<std::size_t>();
  if (result.last < result.first)
    refuse(origin, where, fmt::format("{}: ends before it begins", key));
  return result;
}

collective parse_collective(const json& rule, std::string_view origin, std::string_view where) {
  const json wanted = rule.value("collective", json());
  std::string known;
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto what = static_cast<collective>(i);
    if (wanted == name(what)) return what;
    known += (known.empty() ? "" : ", ") + std::string(name(what));
  }
  refuse(origin, where, fmt::format("collective: expected one of {}", known));
}

selection_table::rule parse_rule(const json& rule, std::string_view origin,
                                 std::string_view where) {
  if (!rule.is_object()) refuse(origin, where, "expected an object");
  selection_table::rule result;
  result.what = parse_collective(rule, origin, where);
  result.nodes = parse_range(rule, "nodes", origin, where);
  result.ranks_a_node = parse_range(rule, "ranks_a_node", origin, where);
  result.bytes = parse_range(rule, "bytes", origin, where);
  if (!rule.contains("algorithm") || !rule["algorithm"].is_string()) {
    refuse(origin, where, "algorithm: expected a text such as \"bruck:ports=2\"");
  }
  result.algorithm = rule["algorithm"].get<std::string>();
  return result;
}

selection_table table_of(std::span<const built_in_rule> written) {
  std::vector<selection_table::rule> rules;
  rules.reserve(written.size());
  for (const built_in_rule& each : written) {
    rules.push_back({.what = each.what,
                     .nodes = each.nodes,
                     .ranks_a_node = each.ranks_a_node,
                     .bytes = each.bytes,
                     .algorithm = std::string(each.algorithm)});
  }
  return selection_table(rules);
}

/// For the rest of the process, which selects by it until its very end.
const std::shared_ptr<const selection_table>& keep(selection_table&& table) {
  return *new std::shared_ptr<const selection_table>(
      std::make_shared<const selection_table>(std::move(table)));
}

/// Beyond the nodes that were tried.
selection_table going_on_as_networks(const selection_table& tried) {
  constexpr std::size_t most_nodes = 8;  // twice those
  std::vector<selection_table::rule> rules;
  for (selection_table::rule each : tried.rules()) {
    each.nodes.last = std::min(each.nodes.last, most_nodes);
    rules.push_back(std::move(each));
  }
  for (selection_table::rule each : table_for_networks()->rules()) {
    each.nodes.first = std::max(each.nodes.first, most_nodes + 1);
    if (each.nodes.first <= each.nodes.last) rules.push_back(std::move(each));
  }
  return selection_table(rules);
}

}  // namespace

std::string to_json(const selection_table& table, std::string_view measured) {
  json rules = json::array();
  for (const selection_table::rule& each : table.rules()) {
    rules.push_back({{"collective", name(each.what)},
                     {"nodes", to_json(each.nodes)},
                     {"ranks_a_node", to_json(each.ranks_a_node)},
                     {"bytes", to_json(each.bytes)},
                     {"algorithm", each.algorithm}});
  }
  // A rule a line.
  std::string text = fmt::format("{{\"measured\": {},\n \"rules\": [", json(measured).dump());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",", rules[i].dump());
  }
  return text + "]}\n";
}

selection_table read_table(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) {
    throw error(errc::invalid_argument,
                fmt::format("{}: cannot be read; expected a selection table", file.string()));
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse_table(text, file.string());
}

selection_table parse_table(std::string_view text, std::string_view origin) {
  const json whole = json::parse(text, nullptr, false);
  if (whole.is_discarded() || !whole.is_object() || !whole.contains("rules") ||
      !whole["rules"].is_array()) {
    refuse(origin, "the file", "expected JSON with a list \"rules\"");
  }
  std::vector<selection_table::rule> rules;
  for (const json& rule : whole["rules"]) {
    rules.push_back(parse_rule(rule, origin, fmt::format("rule {}", rules.size() + 1)));
  }
  return selection_table(rules);
}

std::shared_ptr<const selection_table> table_for_networks() {
  static const auto& table = keep(table_of(rules_of_network));
  return table;
}

std::shared_ptr<const selection_table> table_for_tcp() {
  static const auto& table = keep(going_on_as_networks(table_of(rules_of_tcp)));
  return table;
}

std::shared_ptr<const selection_table> table_for_mpi() {
  static const auto& table = keep(going_on_as_networks(table_of(rules_of_mpi)));
  return table;
}

std::shared_ptr<const selection_table> table_for_made_up_nodes() {
  static const auto& table = keep(table_of(rules_of_made_up_nodes));
  return table;
}

std::shared_ptr<const selection_table> table_asked_for(
    std::shared_ptr<const selection_table> otherwise) {
  const char* const file = environment::read(environment::table);
  if (file == nullptr) return otherwise;
  if (std::string_view(file) == "none") return nullptr;
  return std::make_shared<const selection_table>(read_table(file));
}

}  // namespace muster::tune
