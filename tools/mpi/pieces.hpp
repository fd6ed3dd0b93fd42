#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <muster/base/error.hpp>

namespace muster::mpi {

/// \throws error `errc::invalid_argument` where MPI could not count an element's bytes in int
inline void require_countable(std::size_t element_bytes) {
  if (element_bytes <= std::numeric_limits<int>::max()) [[likely]]
    return;
  throw error(errc::invalid_argument, "an element takes " + std::to_string(element_bytes) +
                                          " bytes; expected no more than int can count");
}

/// Calls `work(first, some)` for one stretch of elements after the other, so many at a time that
/// MPI can count their bytes in int.
/// \throws as `require_countable`
template <class Work>
void in_pieces(std::int64_t elements, std::size_t element_bytes, Work work) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  require_countable(element_bytes);
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / element_bytes));
  for (std::int64_t first = 0; first < elements; first += most) {
    work(first, static_cast<int>(std::min(most, elements - first)));
  }
}

/// A call of the MPI's that should have succeeded. \throws error where it has not
inline void require_success(int code, const char* function) {
  if (code == 0) [[likely]]
    return;
  throw error(errc::invalid_argument,
              std::string(function) + " failed with code " + std::to_string(code));
}

}  // namespace muster::mpi
