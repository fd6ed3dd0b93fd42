// muster arrivals: how ranks came to the collective calls of a recorded run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>

namespace muster::profile {

struct options {
  std::filesystem::path folder;
  std::filesystem::path json;  ///< empty: none
  std::filesystem::path plot;  ///< empty: none
};

/// Prints the table and writes what else was asked for. The exit status.
/// \throws std::runtime_error where the records cannot be read, or a file not written
int report(const options& wanted);

/// Adds `muster arrivals` to the command line; `done` gets its exit status.
void add_arrivals_command(CLI::App& app, std::function<void(int)> done);

}  // namespace muster::profile
