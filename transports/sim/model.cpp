#include "transports/sim/model.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>

namespace muster::sim {
namespace {

using json = nlohmann::ordered_json;

// The most that makes sense, and that virtual time can hold.
constexpr double any = 1.9e19;        // bytes: whatever there is
constexpr double longest_ns = 1e12;   // a quarter of an hour
constexpr double fastest_gbs = 1e12;  // as good as at once
constexpr double most_ranks = 1 << 20;

/// Every figure of a model, once: `visit(section, field, value, least, most)` with the bounds of
/// what makes sense.
template <class Model, class Visit>
void each_figure(Model& of, Visit visit) {
  visit("cluster", "nodes", of.cluster.nodes, 1, most_ranks);
  visit("cluster", "ranks_a_node", of.cluster.ranks_a_node, 1, most_ranks);
  visit("cluster", "cores_a_node", of.cluster.cores_a_node, 1, most_ranks);
  visit("cluster", "cores_a_numa_node", of.cluster.cores_a_numa_node, 0, most_ranks);
  visit("cluster", "cores_a_cache", of.cluster.cores_a_cache, 0, most_ranks);
  auto& network = of.network;
  visit("network", "latency_ns", network.latency_ns, 0, longest_ns);
  visit("network", "send_overhead_ns", network.send_overhead_ns, 0, longest_ns);
  visit("network", "receive_overhead_ns", network.receive_overhead_ns, 0, longest_ns);
  visit("network", "gap_ns", network.gap_ns, 0, longest_ns);
  visit("network", "bandwidth_gbs", network.bandwidth_gbs, 1e-6, fastest_gbs);
  visit("network", "rails", network.rails, 1, 64);
  visit("network", "stripe_from_bytes", network.stripe_from_bytes, 0, any);
  visit("network", "core_push_gbs", network.core_push_gbs, 1e-6, fastest_gbs);
  visit("network", "core_push_to_bytes", network.core_push_to_bytes, 0, any);
  visit("network", "copy_to_bytes", network.copy_to_bytes, 0, any);
  visit("network", "queue_pairs_cached", network.queue_pairs_cached, 0, 1 << 24);
  visit("network", "queue_pair_miss_ns", network.queue_pair_miss_ns, 0, longest_ns);
  auto& memory = of.memory;
  visit("memory", "core_copy_gbs", memory.core_copy_gbs, 1e-6, fastest_gbs);
  visit("memory", "other_core_gbs", memory.other_core_gbs, 1e-6, fastest_gbs);
  visit("memory", "cache_copy_gbs", memory.cache_copy_gbs, 1e-6, fastest_gbs);
  visit("memory", "memory_read_gbs", memory.memory_read_gbs, 1e-6, fastest_gbs);
  visit("memory", "memory_write_gbs", memory.memory_write_gbs, 1e-6, fastest_gbs);
  visit("memory", "node_memory_gbs", memory.node_memory_gbs, 1e-6, fastest_gbs);
  visit("memory", "combine_gbs", memory.combine_gbs, 1e-6, fastest_gbs);
  visit("memory", "flag_ns", memory.flag_ns, 0, longest_ns);
  visit("memory", "line_read_ns", memory.line_read_ns, 0, longest_ns);
  visit("memory", "core_cache_bytes", memory.core_cache_bytes, 0, any);
  visit("memory", "cache_bytes", memory.cache_bytes, 0, any);
  visit("memory", "register_ns", memory.register_ns, 0, longest_ns);
  visit("memory", "register_page_ns", memory.register_page_ns, 0, longest_ns);
  visit("memory", "kernel_copy_gbs", memory.kernel_copy_gbs, 0, fastest_gbs);
  visit("memory", "kernel_copy_call_ns", memory.kernel_copy_call_ns, 0, longest_ns);
  visit("core", "call_ns", of.core.call_ns, 0, longest_ns);
  visit("core", "copy_call_ns", of.core.copy_call_ns, 0, longest_ns);
  visit("core", "switch_ns", of.core.switch_ns, 0, longest_ns);
  visit("core", "crowded_switch_ns", of.core.crowded_switch_ns, 0, longest_ns);
  visit("core", "wake_ns", of.core.wake_ns, 0, longest_ns);
  visit("core", "system_call_ns", of.core.system_call_ns, 0, longest_ns);
}

constexpr double most_jitter = 1000;

std::string bounds(double least, double most) {
  std::ostringstream text;
  text << "from " << least << " to " << most;
  return text.str();
}

constexpr std::pair<model::mover, std::string_view> movers[] = {
    {model::mover::core, "core"}, {model::mover::nic, "nic"}, {model::mover::both, "both"}};

/// Reads one JSON object as a model and remembers which of its fields it knows.
class reader {
public:
  reader(const json& from, std::string_view origin) : from_(from), origin_(origin) {}

  model read() {
    model result;
    known_ = {"name", "description", "sources", "jitter", "network.moved_by"};
    result.name = text(from_, "name");
    result.description = text(from_, "description");
    each_figure(result, [this](const char* section, const char* field, auto& value, double least,
                               double most) { read_figure(section, field, value, least, most); });
    if (from_.contains("network") && from_["network"].contains("moved_by")) {
      read_mover(result.network.moved_by);
    }
    if (from_.contains("jitter")) result.jitter = number(from_["jitter"], "jitter", 0, most_jitter);
    require_known();
    if (from_.contains("sources")) read_sources(result);
    return result;
  }

private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw error(errc::invalid_argument, "machine model " + std::string(origin_) + ": " + why);
  }

  std::string text(const json& from, const char* field) const {
    if (!from.contains(field)) return {};
    if (!from[field].is_string()) refuse(std::string(field) + " is not text; expected a string");
    return from[field].get<std::string>();
  }

  double number(const json& value, const std::string& field, double least, double most) const {
    if (!value.is_number()) {
      refuse(field + " is " + value.dump() + "; expected a number");
    }
    const double result = value.get<double>();
    if (!(result >= least && result <= most)) {
      refuse(field + " is " + value.dump() + "; expected " + bounds(least, most));
    }
    return result;
  }

  template <class Value>
  void read_figure(const char* section, const char* field, Value& value, double least,
                   double most) {
    const std::string whole = std::string(section) + "." + field;
    known_.insert(whole);
    if (!from_.contains(section)) return;
    const json& part = from_[section];
    if (!part.is_object()) refuse(std::string(section) + " is not an object");
    if (!part.contains(field)) return;
    if constexpr (std::is_integral_v<Value>) {
      if (!part[field].is_number_unsigned()) {
        refuse(whole + " is " + part[field].dump() + "; expected a whole number");
      }
    }
    value = static_cast<Value>(number(part[field], whole, least, most));
  }

  void read_mover(model::mover& result) const {
    const json& value = from_["network"]["moved_by"];
    for (const auto& [mover, word] : movers) {
      if (value == word) {
        result = mover;
        return;
      }
    }
    refuse("network.moved_by is " + value.dump() + "; expected \"core\", \"nic\" or \"both\"");
  }

  void require_known() const {
    for (const auto& [name, value] : from_.items()) {
      if (known_.contains(name)) continue;
      if (!value.is_object()) refuse("has a field '" + name + "', which no model has");
      for (const auto& [field, figure] : value.items()) {
        const std::string whole = name + "." + field;
        if (!known_.contains(whole)) refuse("has a field '" + whole + "', which no model has");
      }
    }
  }

  void read_sources(model& result) const {
    if (!from_["sources"].is_object()) refuse("sources is not an object of field to text");
    for (const auto& [field, source] : from_["sources"].items()) {
      if (!known_.contains(field)) refuse("sources names '" + field + "', which no model has");
      if (!source.is_string()) refuse("sources: that of '" + field + "' is not text");
      result.sources[field] = source.get<std::string>();
    }
  }

  const json& from_;
  std::string_view origin_;
  std::set<std::string> known_;
};

}  // namespace

void model::require_sense() const {
  const auto check = [this](const std::string& field, double value, double least, double most) {
    if (value >= least && value <= most) return;
    std::ostringstream text;
    text << "machine model " << name << ": " << field << " is " << value << "; expected "
         << bounds(least, most);
    throw error(errc::invalid_argument, text.str());
  };
  each_figure(*this, [&check](const char* section, const char* field, auto value, double least,
                              double most) {
    check(std::string(section) + "." + field, static_cast<double>(value), least, most);
  });
  check("jitter", jitter, 0, most_jitter);
}

model parse_model(std::string_view text, std::string_view origin) {
  json parsed;
  try {
    parsed = json::parse(text);
  } catch (const json::exception& why) {
    throw error(errc::invalid_argument,
                "machine model " + std::string(origin) + ": not JSON: " + why.what());
  }
  if (!parsed.is_object()) {
    throw error(errc::invalid_argument,
                "machine model " + std::string(origin) + ": expected a JSON object");
  }
  return reader(parsed, origin).read();
}

model read_model(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (!(text << in.rdbuf())) {
    throw error(errc::invalid_argument, "machine model " + file.string() + ": cannot be read");
  }
  return parse_model(text.str(), file.string());
}

std::string to_json(const model& of) {
  json result;
  result["name"] = of.name;
  result["description"] = of.description;
  result["sources"] = of.sources;
  each_figure(of, [&result](const char* section, const char* field, auto value, double, double) {
    // The largest number means never, which is what leaving the field out means, too.
    if constexpr (std::is_integral_v<decltype(value)>) {
      if (value == std::numeric_limits<decltype(value)>::max()) return;
    }
    result[section][field] = value;
  });
  for (const auto& [mover, word] : movers) {
    if (mover == of.network.moved_by) result["network"]["moved_by"] = word;
  }
  result["jitter"] = of.jitter;
  return result.dump(2) + "\n";
}

machine measured_by(const model& of) {
  machine seen;
  seen.trip_ns = of.memory.flag_ns;
  seen.yield_ns = of.core.system_call_ns;  // nobody else wants to run
  seen.foreign_allowed = of.memory.kernel_copy_gbs > 0;
  seen.foreign_call_ns = of.memory.kernel_copy_call_ns;
  // In and out of a stage: two copies.
  seen.in_cache = {of.memory.cache_copy_gbs / 2, of.memory.kernel_copy_gbs};
  // One side of each copy in a stage that the cache holds.
  seen.beyond_cache.staged = 1 / (1 / of.memory.memory_read_gbs + 1 / of.memory.memory_write_gbs +
                                  1 / of.memory.cache_copy_gbs);
  seen.beyond_cache.foreign = of.memory.kernel_copy_gbs;
  seen.zero_copy_from = of.network.copy_to_bytes + 1;
  seen.rails = static_cast<std::uint32_t>(of.network.rails);
  seen.cache_bytes = of.memory.cache_bytes;
  seen.processors = static_cast<std::uint32_t>(of.cluster.cores_a_node);
  return seen;
}

}  // namespace muster::sim
