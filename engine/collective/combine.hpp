#pragma once

#include <cstddef>
#include <span>

#include "engine/collective/arguments.hpp"

namespace muster {

/// `to[i] = ((from[0][i] op from[1][i]) op from[2][i]) …` for `count` elements of `type`.
///
/// Inputs are combined in the order given, element by element, so the result is bitwise the same
/// whenever they are. `to` may be one of the inputs. `from` is not empty.
void combine(reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) noexcept;

using combiner = decltype(&combine);

/// The forms of `combine` that this processor can run, one for each width of vector registers, the
/// widest last: `combine` is that one. All give the same to the bit.
std::span<const combiner> combiners() noexcept;

}  // namespace muster
