#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace guide {

/// Ends a rank of the guide's programs with an exception that names the line.
inline void require(bool holds, std::source_location at = std::source_location::current()) {
  if (holds) return;
  throw std::logic_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) +
                         ": not what the guide says");
}

}  // namespace guide
