#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/collective/arguments.hpp"

/// What every rank contributes to a call, and what must come of it, computed from the call alone.
namespace muster::testing {

/// A call as all ranks know it.
struct spec {
  collective what = collective::barrier;
  datatype type = datatype::byte;
  reduction op = reduction::none;
  std::size_t count = 0;
  std::size_t root = 0;
  bool in_place = false;
  /// Floating-point contributions whose sums and products are rounded, so that the order of
  /// combining shows; otherwise they are such that none is.
  bool rounded = false;
  std::uint64_t seed = 0;

  std::size_t bytes() const noexcept { return count * size_of(type); }
};

std::string describe(const spec& call);

/// Writes what `rank` contributes (to alltoall: its block for rank `block`).
void fill(const spec& call, std::size_t rank, std::size_t block, std::span<std::byte> to);

/// All that a rank contributes: its vector, its block, or its blocks for all ranks.
std::vector<std::byte> contribution(const spec& call, std::size_t ranks, std::size_t rank);

/// What `rank` has received when the call is complete; empty where it receives nothing. Reductions
/// are combined in rank order.
std::vector<std::byte> expected(const spec& call, std::size_t ranks, std::size_t rank);

}  // namespace muster::testing
