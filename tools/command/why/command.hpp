// muster why: who is late in a job that hangs, in which call, and who waits for it.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

namespace muster::why {

struct options {
  std::string of;              ///< a process, or a folder
  std::filesystem::path json;  ///< empty: none
};

/// Prints the page and writes what else was asked for. The exit status.
/// \throws std::runtime_error where there is nothing to look at, or a file cannot be written
int answer(const options& wanted);

/// Adds `muster why` to the command line; `done` gets its exit status.
void add_why_command(CLI::App& app, std::function<void(int)> done);

}  // namespace muster::why
