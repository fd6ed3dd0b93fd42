#pragma once

#include <optional>
#include <utility>

#include <muster/base/error.hpp>

namespace muster::testing {

/// The error that `body` ends with, if it does; other exceptions pass.
template <class Body>
std::optional<error> failure_of(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const error& why) {
    return why;
  }
  return std::nullopt;
}

}  // namespace muster::testing
