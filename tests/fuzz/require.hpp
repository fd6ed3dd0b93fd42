#pragma once

#include <cstdio>
#include <cstdlib>

namespace muster::fuzz {

/// Ends the process where something does not hold, as a fuzzer expects of a bug.
inline void require(bool holds, const char* what) noexcept {
  if (holds) return;
  std::fprintf(stderr, "fuzz: this does not hold: %s\n", what);
  std::abort();
}

}  // namespace muster::fuzz
