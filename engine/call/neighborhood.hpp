#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster {

/// How blocks find each other where two ranks are neighbors several times.
enum class pairing : std::uint8_t {
  in_order,  ///< the first to a rank is that rank's first from this one, and so on
  opposite,  ///< sources and destinations are pairs of opposite directions: what goes one way comes
             ///< from the other
};

/// The ranks with which a rank exchanges blocks, in the order of its blocks. `no_rank` stands for a
/// neighbor that is not there: its block is neither read nor written. A view, trivially copyable.
///
/// Each rank has its own. A rank must be among the sources of each of its destinations, as often.
struct neighborhood {
  std::span<const std::size_t> sources;
  std::span<const std::size_t> destinations;
  pairing pairs = pairing::in_order;

  /// Where in `sources` the i-th block is to go, of those that come from one rank in their order.
  constexpr std::size_t source_at(std::size_t i) const noexcept {
    return pairs == pairing::opposite ? i ^ 1 : i;
  }
};

}  // namespace muster
