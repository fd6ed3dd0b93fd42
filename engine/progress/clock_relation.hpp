#pragma once

#include <cstdint>

namespace muster {

/// How the clock of a rank's machine is related to one that all ranks of its job know: what is to
/// be added to a time, and by how much that may be wrong, either way.
struct clock_relation {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;

  bool operator==(const clock_relation&) const = default;
};

}  // namespace muster
