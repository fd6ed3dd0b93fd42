#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace muster::cli {

/// Adds `muster completion`: a script by which bash completes the commands and options that `app`
/// has by the time it is called.
void add_completion_command(CLI::App& app);

/// That script.
std::string bash_completion(const CLI::App& app);

}  // namespace muster::cli
