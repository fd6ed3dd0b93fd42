#include <muster/kokkos/packing.hpp>

#include <algorithm>

namespace muster::kokkos::detail {
namespace {

/// Adds the next dimension, which is one with the last where it goes on where that ends.
void append(walk& to, std::size_t extent, std::size_t stride) noexcept {
  const auto count = static_cast<std::int64_t>(extent);
  const auto step = static_cast<std::int64_t>(stride);
  std::int64_t& last = to.extents[to.rank - 1];
  std::int64_t& last_step = to.strides[to.rank - 1];
  if (last == 1) {
    last = count;
    last_step = step;
  } else if (step == last * last_step) {
    last *= count;
  } else {
    to.extents[to.rank] = count;
    to.strides[to.rank++] = step;
  }
}

/// Rows, where those are consecutive in the View or nothing is; else tiles, whose lines of memory
/// are all used while they are in the cache.
void cut(walk& all) noexcept {
  constexpr std::int64_t row = 8192;
  constexpr std::int64_t tile = 16;
  const std::int64_t* const begin = all.strides.data();
  all.other = static_cast<std::size_t>(std::min_element(begin, begin + all.rank) - begin);
  all.fastest_piece = all.other == 0 ? row : tile;
  all.other_piece = all.other == 0 ? 1 : tile;
}

}  // namespace

std::int64_t walk::size() const noexcept {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= extents[d];
  return product;
}

std::int64_t walk::pieces() const noexcept {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t step = d == 0 ? fastest_piece : d == other ? other_piece : 1;
    product *= (extents[d] + step - 1) / step;
  }
  return product;
}

walk walk_through(const placement& of, order in) noexcept {
  walk result;
  result.extents[0] = 1;
  result.strides[0] = 1;
  for (std::size_t step = 0; step < of.rank; ++step) {
    const std::size_t i = in == order::left ? step : of.rank - 1 - step;
    if (of.extents[i] != 1) append(result, of.extents[i], of.strides[i]);
  }
  cut(result);
  return result;
}

}  // namespace muster::kokkos::detail
