// JSON of which people can read and compare lines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace muster::report {

/// What has no objects in it in one line, and each member of what has some in lines of its own.
std::string in_lines(const nlohmann::ordered_json& value);

}  // namespace muster::report
