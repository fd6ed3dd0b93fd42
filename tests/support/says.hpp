#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace muster::testing {

/// Whether a text, shown where the check fails, has a part.
inline bool says(std::string_view text, std::string_view part) {
  const std::string shown(text);
  CAPTURE(shown);
  return text.find(part) != std::string_view::npos;
}

}  // namespace muster::testing
