// How late ranks came to a site's calls, put together to as many cells as a plot has room for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/report/profile.hpp"

namespace muster::profile {

/// Rows are ranks or several, columns are calls or several.
struct lateness {
  std::vector<std::string> ranks;              ///< of a row: `3`, `4–7`
  std::vector<std::uint64_t> first_call;       ///< of a column: its number in the team's order
  std::vector<std::int64_t> first_arrival_ns;  ///< of that call, since the job's start
  std::vector<std::vector<double>> ns;         ///< behind the first, on average; by row and column
};

/// \param of with calls that are kept
lateness lateness_of(const site& of, std::int64_t start);

}  // namespace muster::profile
