#pragma once

#include <bit>
#include <cstdint>

#include <muster/call/datatype.hpp>

/// Conversions of 16-bit floating-point numbers in plain integer and float32 arithmetic, without
/// branches: loops over them become vectors of any width, and give the same bits in all of them.
///
/// Always inlined, as they are used in functions that are compiled for different processors.
namespace muster {

/// Every binary16 is a float32: exact.
[[gnu::always_inline]] inline float widen(float16 narrow) noexcept {
  constexpr std::uint32_t rebias = (127 - 15) << 23;
  constexpr std::uint32_t one_exponent = 1 << 23;
  const std::uint32_t sign = (narrow.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = narrow.bits & 0x7fffU;
  const std::uint32_t normal = (magnitude << 13) + rebias;
  // As if it were normal, with a leading 1 that is then taken off again: of normal numbers only,
  // which no processor flushes to zero.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(normal + one_exponent) - 0x1p-14F);
  const std::uint32_t finite = magnitude < 0x0400U ? subnormal : normal;
  const std::uint32_t wide = magnitude < 0x7c00U ? finite : normal + rebias;
  return std::bit_cast<float>(wide | sign);
}

[[gnu::always_inline]] inline float widen(bfloat16 narrow) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(narrow.bits) << 16);
}

template <class T>
T narrow(float wide) noexcept = delete;

/// The nearest binary16, of two equally near the even one. A NaN stays one, and becomes quiet.
template <>
[[gnu::always_inline]] inline float16 narrow<float16>(float wide) noexcept {
  constexpr std::uint32_t rebias = (127 - 15) << 23;
  constexpr std::uint32_t infinity = 255U << 23;
  constexpr std::uint32_t too_large = (127U + 16) << 23;
  constexpr std::uint32_t smallest_normal = (127U - 14) << 23;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(wide);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fff'ffffU;
  // Half a unit in the last place less a bit, and the bit where the last place is odd; what carries
  // over from the largest number is infinity.
  const std::uint32_t normal = (magnitude - rebias + 0xfffU + (magnitude >> 13 & 1)) >> 13;
  // The unit in the last place of 0.5 is the smallest subnormal: adding rounds to it.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
      std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x3ffU);
  const std::uint32_t finite = magnitude < smallest_normal ? subnormal : normal;
  const std::uint32_t special = magnitude > infinity ? nan : 0x7c00U;
  const std::uint32_t result = magnitude < too_large ? finite : special;
  return float16::from_bits(static_cast<std::uint16_t>(result | sign));
}

/// The nearest bfloat16, likewise.
template <>
[[gnu::always_inline]] inline bfloat16 narrow<bfloat16>(float wide) noexcept {
  constexpr std::uint32_t infinity = 255U << 23;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(wide);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x0040U;
  const bool is_nan = (bits & 0x7fff'ffffU) > infinity;
  return bfloat16::from_bits(static_cast<std::uint16_t>(is_nan ? nan : rounded));
}

}  // namespace muster
