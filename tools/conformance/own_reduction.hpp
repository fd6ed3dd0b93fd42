#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <muster/call/reduction.hpp>

/// Reductions of a program's own: associative, exact, of awkward sizes, and all but one such that
/// the order of the operands shows.
namespace muster::testing {

enum class own_reduction : std::uint8_t { none, matrices, maps, stretches, triples };
inline constexpr own_reduction own_reductions[] = {
    own_reduction::matrices, own_reduction::maps, own_reduction::stretches, own_reduction::triples};
std::string_view name(own_reduction op);

/// 2 x 2, modulo 2^32, row by row; their product. 16 bytes.
using matrix = std::array<std::uint32_t, 4>;
matrix joined(const matrix& a, const matrix& b);

/// x -> scale x + offset, modulo 2^64, made of so many steps; one after the other. 24 bytes.
struct map {
  std::uint64_t scale;
  std::uint64_t offset;
  std::uint64_t steps;
};
map joined(const map& a, const map& b);

/// The ends of a list of numbers, and the sum of the products of neighbors in it; one list behind
/// the other. 12 bytes.
struct stretch {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t products;
};
stretch joined(const stretch& a, const stretch& b);

/// Byte by byte: sum, maximum, exclusive or. Commutative. 3 bytes.
using triple = std::array<std::uint8_t, 3>;
triple joined(const triple& a, const triple& b);

/// What a call takes; not of `none`.
const custom_reduction& custom_of(own_reduction op);

}  // namespace muster::testing
