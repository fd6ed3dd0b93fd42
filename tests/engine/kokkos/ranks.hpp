#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <functional>

#include <muster/muster.hpp>

/// Ranks for the tests.
namespace muster::testing {

using rank_program = std::function<task<>(team&)>;

/// Runs a coroutine on each of so many threads, to its end.
inline void on_ranks(std::size_t ranks, const rank_program& program) {
  run_threads(ranks, [&](team& of) { start(of.engine(), program(of)).wait(); });
}

/// What is wrong on a rank; doctest's checks are not for several threads at once.
inline void require(bool holds, const char* what) {
  if (!holds) throw error(errc::resource, what);
}

/// A number that tells rank, element and purpose from others; exact in any sum of the tests.
inline double value_at(std::size_t rank, std::size_t element, std::size_t purpose = 0) {
  return static_cast<double>(1 + element % 97 + 100 * rank + 10'000 * purpose);
}
/// Of ranks 0 to `ranks` - 1.
inline double sum_at(std::size_t ranks, std::size_t element, std::size_t purpose = 0) {
  double sum = 0;
  for (std::size_t r = 0; r < ranks; ++r) sum += value_at(r, element, purpose);
  return sum;
}

}  // namespace muster::testing
