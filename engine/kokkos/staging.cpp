#include <muster/kokkos/staging.hpp>

#include <algorithm>

namespace muster::kokkos::detail {

std::size_t segments_of(const division& all, std::size_t element) noexcept {
  constexpr std::size_t segment_bytes = std::size_t{1} << 20;
  constexpr std::size_t most = 32;  // places in the team's order
  if (all.is_whole) return 1;
  const std::size_t wanted = all.block * all.most_blocks * element / segment_bytes;
  return std::max<std::size_t>(1, std::min({wanted, most, all.block}));
}

}  // namespace muster::kokkos::detail
