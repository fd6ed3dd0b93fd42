#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

/// What the elements of a buffer are.
enum class datatype : std::uint8_t {
  byte,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  float16,        ///< IEEE 754 binary16
  bfloat16,       ///< the upper half of a float32
  complex64,      ///< two float32
  complex128,     ///< two float64
  boolean,        ///< one byte, 0 or 1
  int16_indexed,  ///< `indexed<std::int16_t>` and so on: what minloc and maxloc combine
  int32_indexed,
  int64_indexed,
  float32_indexed,
  float64_indexed,
  custom,  ///< elements that only a `custom_reduction` knows
};
inline constexpr std::size_t datatypes = 22;

std::string_view name(datatype type) noexcept;

/// Bytes of one element; 0 for `datatype::custom`, whose reduction knows.
constexpr std::size_t size_of(datatype type) noexcept {
  constexpr std::array<std::size_t, datatypes> sizes = {1, 1, 1, 2,  2, 4, 4, 8,  8, 4,  8,
                                                        2, 2, 8, 16, 1, 8, 8, 16, 8, 16, 0};
  return sizes[static_cast<std::size_t>(type)];
}

/// A value and where it was found: the elements of minloc and maxloc. Laid out as MPI's pairs are.
template <class T>
struct indexed {
  T value{};
  std::int32_t index = 0;

  friend bool operator==(const indexed&, const indexed&) = default;
};

/// Half precision, IEEE 754 binary16: a float32 rounded to nearest, ties to even. Sums and products
/// are computed in float32 and rounded after each step.
struct float16 {
  float16() = default;
  explicit float16(float value) noexcept;
  explicit operator float() const noexcept;
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 result;
    result.bits = bits;
    return result;
  }

  std::uint16_t bits = 0;
};

/// The upper half of a float32, rounded to nearest, ties to even; computed with like `float16`.
struct bfloat16 {
  bfloat16() = default;
  explicit bfloat16(float value) noexcept;
  explicit operator float() const noexcept;
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 result;
    result.bits = bits;
    return result;
  }

  std::uint16_t bits = 0;
};

}  // namespace muster
