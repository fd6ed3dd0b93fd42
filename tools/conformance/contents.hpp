#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <muster/call/arguments.hpp>

#include "tools/conformance/own_reduction.hpp"

/// What every rank contributes to a call, and what must come of it, computed from the call alone.
namespace muster::testing {

/// A call as all ranks know it.
struct spec {
  collective what = collective::barrier;
  datatype type = datatype::byte;
  reduction op = reduction::none;
  /// Of elements, as in `arguments`; where blocks vary, about the longest (see `block_count`).
  std::size_t count = 0;
  std::size_t root = 0;
  bool in_place = false;
  /// Floating-point contributions whose sums and products are rounded, so that the order of
  /// combining shows; otherwise they are such that none is.
  bool rounded = false;
  std::uint64_t seed = 0;
  combining order = combining::by_rank;
  own_reduction own = own_reduction::none;
  /// What chooses its algorithm by hand, as for `team::choose`; empty: whatever is chosen anyway.
  std::string by = {};
  /// How often the buffers were given new contents: blocks stay as long as they were.
  std::uint64_t refilled = 0;

  std::size_t element() const noexcept;
};

std::string describe(const spec& call);

/// Writes what `rank` contributes, or of its blocks the one for rank `block`.
void fill(const spec& call, std::size_t rank, std::size_t block, std::span<std::byte> to);

/// What `rank` has received when the call is complete, of those that receive one vector or block;
/// empty where it receives nothing. Reductions are combined in rank order.
std::vector<std::byte> expected(const spec& call, std::size_t ranks, std::size_t rank);

/// Zeroes what lies between the members of an element, which a reduction may leave as it likes.
void clear_padding(const spec& call, std::span<std::byte> elements);

}  // namespace muster::testing
