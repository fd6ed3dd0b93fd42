#pragma once

#include <cstddef>
#include <span>

#include <muster/call/arguments.hpp>

namespace muster {

/// `to[i] = ((from[0][i] op from[1][i]) op from[2][i]) …` for `count` elements of `type`, of which
/// `supports(op, type)`.
///
/// Inputs are combined in the order given, element by element, so the result is bitwise the same
/// whenever they are (but which of two NaNs remains is the processor's choice). A single input is
/// copied. `to` may be one of the inputs. `from` is not empty.
void combine(reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) noexcept;

/// The same with a reduction of the user's own, which is not called for no elements, and may throw.
void combine(const custom_reduction& own, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count);

/// The same as a call says.
inline void combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
                    std::size_t count) {
  if (call.custom != nullptr) [[unlikely]] {
    combine(*call.custom, to, from, count);
  } else {
    combine(call.op, call.type, to, from, count);
  }
}

using few_combiner = void (*)(std::byte* to, std::span<const std::byte* const> from,
                              std::size_t count) noexcept;
/// What the built-in `combine` does with as few bytes an input as these, so that it need not be
/// looked up in every call; null where they are more, or `supports` denies it.
few_combiner combiner_of_few(reduction op, datatype type, std::size_t bytes) noexcept;

/// What is combined at a time, so that it stays in the first-level cache beside its inputs.
inline constexpr std::size_t combine_tile_bytes = 2048;

using combiner = void (*)(reduction op, datatype type, std::byte* to,
                          std::span<const std::byte* const> from, std::size_t count) noexcept;

/// The forms of the built-in `combine` that this processor can run, one for each width of vector
/// registers, the widest last: `combine` is that one. All give the same to the bit.
std::span<const combiner> combiners() noexcept;

}  // namespace muster
