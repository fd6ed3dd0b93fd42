#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/says.hpp"

namespace muster::testing {

/// What the command line says to these arguments, which are wrong. `add` adds the command.
inline std::string complaint(void (*add)(CLI::App&, std::function<void(int)>),
                             std::vector<std::string> arguments) {
  CLI::App command("muster");
  add(command, [](int) {});
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    command.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace muster::testing
