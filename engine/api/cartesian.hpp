#pragma once

#include <cstddef>
#include <vector>

#include <muster/call/neighborhood.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// The neighborhood of a rank on a grid: for each dimension the rank before it, then the one after
/// it; `no_rank` beyond the border of a dimension that is not periodic. Ranks lie on the grid as
/// MPI's do, those of the last dimension one after the other.
///
///     const cartesian grid(team, {4, 2}, {true, false});
///     co_await neighbor_alltoall(team, send, receive, grid);
///
/// What goes in one direction comes from the other, also where a dimension is periodic and so short
/// that both lead to the same rank.
class cartesian {
public:
  /// \param on       the team whose ranks are all on the grid
  /// \param dims     lengths of the dimensions; their product is the team's size
  /// \param periodic of each dimension, whether its last rank is next to its first
  /// \throws error `errc::invalid_argument` where the grid does not fit the team
  cartesian(const team& on, const std::vector<std::size_t>& dims,
            const std::vector<bool>& periodic);

  neighborhood neighbors() const noexcept {
    return {.sources = ranks_, .destinations = ranks_, .pairs = pairing::opposite};
  }
  operator neighborhood() const noexcept { return neighbors(); }

private:
  std::vector<std::size_t> ranks_;
};

}  // namespace muster
