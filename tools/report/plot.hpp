// Pictures of what commands found, drawn by a script, tools/report/plot/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace muster::report {

/// Draws JSON that a command writes: SVG, or as the file's name says. Where python3 or matplotlib
/// is missing it says what to install, and gives false; nothing else goes wrong.
bool draw(const std::filesystem::path& file, const std::string& json);

/// The same, and prints where the plot is.
void plot(const std::filesystem::path& file, const std::string& json);

/// Runs the script. Gives its exit status, 127 where it cannot be run, which is said.
int run_script(const std::vector<std::string>& arguments, const std::string& input = {});

}  // namespace muster::report
