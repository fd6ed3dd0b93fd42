#include "tools/report/lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace muster::report {
namespace {

using nlohmann::ordered_json;

bool has_objects(const ordered_json& value) {
  return value.is_structured() && std::ranges::any_of(value, [](const ordered_json& member) {
           return member.is_object() || has_objects(member);
         });
}

std::string in_lines(const ordered_json& value, const std::string& indent) {
  if (!has_objects(value)) return value.dump();
  const std::string deeper = indent + " ";
  std::string text;
  for (const auto& [key, member] : value.items()) {
    text += (text.empty() ? "\n" : ",\n") + deeper;
    if (value.is_object()) text += ordered_json(key).dump() + ": ";
    text += in_lines(member, deeper);
  }
  return (value.is_object() ? "{" : "[") + text + "\n" + indent + (value.is_object() ? "}" : "]");
}

}  // namespace

std::string in_lines(const ordered_json& value) { return in_lines(value, "") + "\n"; }

}  // namespace muster::report
