#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace muster::testing {

/// 16-bit floating-point numbers by the definition of their format, in doubles: to hold the
/// library's own conversions against.
struct plain_float {
  int fraction_bits;
  int bias;

  int exponent_of(std::uint16_t bits) const { return (bits & 0x7fff) >> fraction_bits; }
  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  }
  bool is_nan(std::uint16_t bits) const { return (bits & 0x7fff) > infinity(); }

  double decode(std::uint16_t bits) const {
    const int exponent = exponent_of(bits);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int units = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    const double sign = bits >> 15 == 0 ? 1 : -1;
    if (is_nan(bits)) return std::numeric_limits<double>::quiet_NaN();
    if ((bits & 0x7fff) == infinity()) return sign * std::numeric_limits<double>::infinity();
    return sign * std::ldexp(units, std::max(exponent, 1) - bias - fraction_bits);
  }

  /// The nearest one, of two the even one. Not for NaN.
  std::uint16_t encode(double value) const {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::abs(value);
    int bits = infinity();
    if (magnitude == 0) {
      bits = 0;
    } else if (std::isfinite(magnitude)) {
      const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
      // `nearbyint` rounds halves to even; a fraction that rounds up to 2 carries.
      const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
      const double all = units + std::ldexp(exponent + bias - 1, fraction_bits);
      bits = static_cast<int>(std::min<double>(all, infinity()));
    }
    return static_cast<std::uint16_t>(bits | sign);
  }
};

inline constexpr plain_float plain_float16{10, 15};
inline constexpr plain_float plain_bfloat16{7, 127};

}  // namespace muster::testing
