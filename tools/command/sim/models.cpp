#include "tools/command/sim/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <muster/base/error.hpp>

#include "tools/command/measure/measure.hpp"

namespace muster::simulator {

std::string model_names() {
  std::string names;
  for (const embedded_model& one : embedded_models()) {
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return names;
}

sim::model find_model(std::string_view name_or_file) {
  if (name_or_file == this_machine) return measure::this_machine();
  const auto known = embedded_models();
  const auto found = std::find_if(known.begin(), known.end(), [&](const embedded_model& one) {
    return one.name == name_or_file;
  });
  if (found != known.end()) return sim::parse_model(found->text, found->name);
  if (!name_or_file.ends_with(".json")) {
    throw std::invalid_argument(fmt::format(
        "'{}' is not a machine; there are: {}, this, and FILE.json", name_or_file, model_names()));
  }
  try {
    return sim::read_model(name_or_file);
  } catch (const error& why) {
    throw std::invalid_argument(why.text());
  }
}

std::string list_models() {
  std::string text;
  for (const embedded_model& one : embedded_models()) {
    const sim::model read = sim::parse_model(one.text, one.name);
    fmt::format_to(std::back_inserter(text), "{:<18} {:>3} nodes x {:<3} {}\n", one.name,
                   read.cluster.nodes, read.cluster.ranks_a_node, read.description);
  }
  return text;
}

}  // namespace muster::simulator
