#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace muster::testing {

/// "90s", "10m" or "1h" in seconds, for options of the command line.
inline std::string to_seconds(const std::string& text) {
  constexpr std::string_view units = "smh";
  constexpr std::array<std::uint64_t, 3> lengths = {1, 60, 3600};
  std::uint64_t number = 0;
  char unit = 's';
  char more = 0;
  const int read = std::sscanf(text.c_str(), "%lu%c%c", &number, &unit, &more);
  const std::size_t which = units.find(unit);
  if (read < 1 || read > 2 || which == std::string_view::npos || number > 1'000'000) {
    throw CLI::ValidationError("--for", "is '" + text + "'; expected a time such as 90s, 10m, 1h");
  }
  return std::to_string(number * lengths[which]);
}

}  // namespace muster::testing
