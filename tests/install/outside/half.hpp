// A program in two halves, which two compilers may have made, over a library that one of them has:
// what one half makes, the other or the library uses.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <system_error>

#include <muster/muster.hpp>

namespace outside {

/// Thrown by one half, caught by the other.
struct half_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What objects take that cross between the halves and the library, by this half's compiler.
inline std::array<std::size_t, 8> sizes() {
  return {sizeof(muster::team),  sizeof(muster::engine),    sizeof(muster::world),
          sizeof(muster::error), sizeof(muster::arguments), sizeof(muster::algorithm),
          sizeof(muster::scope), sizeof(muster::sequencer)};
}
std::array<std::size_t, 8> sizes_in_half();

/// A coroutine that awaits the library's.
muster::task<int> sum(muster::team& team, int mine);
/// One that fails after it was suspended: by the library's exception, by one of its own.
muster::task<> fail_by_library(muster::team& team);
muster::task<> fail_by_half(muster::team& team);
/// A function of the half's, called by the library.
std::function<void(muster::team&)> for_threads();
std::error_code stopped();

/// An algorithm whose coroutines the library runs.
extern const muster::algorithm around;
/// A reduction that the library calls.
struct pair {
  int low, high;
};
muster::task<pair> extremes(muster::team& team, int mine);

}  // namespace outside
