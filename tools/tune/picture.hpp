// The picture of the winning regions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/tune/tune.hpp"

namespace muster::tune {

/// For each collective a grid of sizes and teams, each cell with its winner. HTML if the file's
/// name says so.
std::string draw_winners(const std::filesystem::path& file, const std::string& machine,
                         const std::vector<winner>& found);

}  // namespace muster::tune
