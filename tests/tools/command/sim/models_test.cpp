#include "tools/command/sim/models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace muster::simulator {
namespace {

using nlohmann::json;

std::string complaint_about(std::string_view name) {
  try {
    find_model(name);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

/// What a model's file says of a machine, by `section.field`.
std::vector<std::string> figures_in(const json& file) {
  std::vector<std::string> names;
  for (const auto& [section, fields] : file.items()) {
    if (section == "sources" || !fields.is_object()) continue;
    for (const auto& [field, value] : fields.items()) names.push_back(section + "." + field);
  }
  return names;
}

TEST_CASE("models: each is read, under its file's name") {
  CHECK(embedded_models().size() >= 7);
  for (const embedded_model& one : embedded_models()) {
    CAPTURE(one.name);
    const sim::model read = find_model(one.name);
    CHECK(read.name == one.name);
    CHECK(!read.description.empty());
    CHECK(read.cluster.nodes > 1);
    CHECK(read.cluster.ranks_a_node > 1);
    CHECK(model_names().find(one.name) != std::string::npos);
    CHECK(list_models().find(read.description) != std::string::npos);
  }
}

TEST_CASE("models: each leaves nothing to defaults, and every figure has a source") {
  for (const embedded_model& one : embedded_models()) {
    const json file = json::parse(one.text);
    const json whole = json::parse(sim::to_json(find_model(one.name)));
    CHECK(figures_in(file) == figures_in(whole));
    for (const std::string& figure : figures_in(file)) {
      CAPTURE(one.name);
      CAPTURE(figure);
      CHECK(file["sources"].contains(figure));
    }
  }
}

TEST_CASE("models: they are in the order of their names") {
  const auto all = embedded_models();
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("models: an unknown name is answered with those there are") {
  const std::string text = complaint_about("hdr200");
  for (const std::string_view part : {"'hdr200'", "colony", "hdr100", "FILE.json"}) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("models: a file that is not there is named") {
  CHECK(complaint_about("/no/such/model.json").find("/no/such/model.json") != std::string::npos);
}

}  // namespace
}  // namespace muster::simulator
