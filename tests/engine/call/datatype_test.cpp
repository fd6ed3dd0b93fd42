// The types of elements: 16-bit floating-point numbers against the definition of their formats, and
// which reductions each type has.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include <muster/call/elements.hpp>
#include <muster/call/reduction.hpp>

#include "tests/engine/call/plain_float.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr std::uint32_t all_patterns = 0x1'0000;

template <class T>
void check_widening(const plain_float& format) {
  std::size_t wrong = 0;
  for (std::uint32_t pattern = 0; pattern < all_patterns; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float wide = static_cast<float>(T::from_bits(bits));
    const double expected = format.decode(bits);
    const bool right = std::isnan(expected)
                           ? std::isnan(wide)
                           : wide == expected && std::signbit(wide) == std::signbit(expected);
    wrong += right ? 0 : 1;
  }
  CHECK(wrong == 0);
}

template <class T>
bool narrows_well(float value, const plain_float& format) {
  const T narrow(value);
  const bool same_sign = (narrow.bits >> 15 != 0) == std::signbit(value);
  if (std::isnan(value)) return format.is_nan(narrow.bits) && same_sign;
  return narrow.bits == format.encode(value);
}

template <class T>
void check_there_and_back() {
  std::size_t wrong = 0;
  for (std::uint32_t pattern = 0; pattern < all_patterns; ++pattern) {
    const T value = T::from_bits(static_cast<std::uint16_t>(pattern));
    const float wide = static_cast<float>(value);
    wrong += std::isnan(wide) || T(wide).bits == value.bits ? 0 : 1;
  }
  CHECK(wrong == 0);
}

/// Every number, every middle between two that follow each other, and the next floats on both sides
/// of each.
template <class T>
void check_narrowing(const plain_float& format) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::size_t wrong = 0;
  const auto check_around = [&](double middle) {
    const auto value = static_cast<float>(middle);
    for (const float each :
         {value, std::nextafter(value, infinity), std::nextafter(value, -infinity)}) {
      wrong += narrows_well<T>(each, format) ? 0 : 1;
      wrong += narrows_well<T>(-each, format) ? 0 : 1;
    }
  };
  const double largest = format.decode(static_cast<std::uint16_t>(format.infinity() - 1));
  for (std::uint16_t bits = 0; bits < format.infinity(); ++bits) {
    const double here = format.decode(bits);
    const double step = here - format.decode(static_cast<std::uint16_t>(bits == 0 ? 1 : bits - 1));
    check_around(here);
    check_around(here + std::abs(step) / 2);
    check_around(here + std::abs(step) / 4);
  }
  check_around(largest * 2);
  check_around(infinity);
  CHECK(wrong == 0);
}

template <class T>
void check_random_narrowing(const plain_float& format) {
  random_stream random(run_seed());
  const std::size_t tries = rounds(1'000'000, 100'000);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < tries; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    wrong += narrows_well<T>(value, format) ? 0 : 1;
  }
  INFO(how_to_replay());
  CHECK(wrong == 0);
}

TEST_CASE("float16 is binary16, to the bit") {
  check_widening<float16>(plain_float16);
  check_there_and_back<float16>();
  check_narrowing<float16>(plain_float16);
  check_random_narrowing<float16>(plain_float16);
}

TEST_CASE("bfloat16 is the upper half of a float32, to the bit") {
  check_widening<bfloat16>(plain_bfloat16);
  check_there_and_back<bfloat16>();
  check_narrowing<bfloat16>(plain_bfloat16);
  check_random_narrowing<bfloat16>(plain_bfloat16);
}

TEST_CASE("known values of 16-bit numbers") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(float16(1.0F).bits == 0x3c00);
  CHECK(float16(-2.0F).bits == 0xc000);
  CHECK(float16(65504.0F).bits == 0x7bff);
  CHECK(float16(65519.0F).bits == 0x7bff);
  CHECK(float16(65520.0F).bits == 0x7c00);
  CHECK(float16(-infinity).bits == 0xfc00);
  CHECK(float16(0x1p-14F).bits == 0x0400);
  CHECK(float16(0x1p-24F).bits == 0x0001);
  CHECK(float16(0x1p-25F).bits == 0x0000);  // half of the smallest: to even
  CHECK(float16(0x1.8p-25F).bits == 0x0001);
  CHECK(float16(2049.0F).bits == float16(2048.0F).bits);
  CHECK(float16(2051.0F).bits == float16(2052.0F).bits);
  CHECK(bfloat16(1.0F).bits == 0x3f80);
  CHECK(bfloat16(-0.0F).bits == 0x8000);
  CHECK(bfloat16(257.0F).bits == bfloat16(256.0F).bits);
  CHECK(bfloat16(259.0F).bits == bfloat16(260.0F).bits);
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  // A payload in the lower half alone must not make it infinity.
  CHECK(bfloat16(std::bit_cast<float>(0x7f80'0001U)).bits == 0x7fc0);
  CHECK(float16(std::bit_cast<float>(0xff80'0001U)).bits == 0xfe00);
}

// ---- tables

template <class T>
bool has_size(datatype type) {
  return datatype_of<T>() == type && size_of(type) == sizeof(T);
}

TEST_CASE("each type of C++ is one of Muster's, of its size") {
  CHECK(has_size<std::int8_t>(datatype::int8));
  CHECK(has_size<unsigned char>(datatype::uint8));
  CHECK(has_size<short>(datatype::int16));
  CHECK(has_size<std::uint16_t>(datatype::uint16));
  CHECK(has_size<int>(datatype::int32));
  CHECK(has_size<std::uint32_t>(datatype::uint32));
  CHECK(has_size<long>(datatype::int64));
  CHECK(has_size<long long>(datatype::int64));
  CHECK(has_size<std::size_t>(datatype::uint64));
  CHECK(has_size<float>(datatype::float32));
  CHECK(has_size<const double>(datatype::float64));
  CHECK(has_size<float16>(datatype::float16));
  CHECK(has_size<bfloat16>(datatype::bfloat16));
  CHECK(has_size<std::complex<float>>(datatype::complex64));
  CHECK(has_size<std::complex<double>>(datatype::complex128));
  CHECK(has_size<bool>(datatype::boolean));
  CHECK(has_size<indexed<std::int16_t>>(datatype::int16_indexed));
  CHECK(has_size<indexed<std::int32_t>>(datatype::int32_indexed));
  CHECK(has_size<indexed<std::int64_t>>(datatype::int64_indexed));
  CHECK(has_size<indexed<float>>(datatype::float32_indexed));
  CHECK(has_size<indexed<double>>(datatype::float64_indexed));
  CHECK_FALSE(number<std::byte*>);
  CHECK_FALSE(number<long double>);
}

TEST_CASE("every type and reduction has a name of its own") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < datatypes; ++i) names.emplace(name(static_cast<datatype>(i)));
  CHECK(names.size() == datatypes);
  names.clear();
  for (std::size_t i = 0; i < reductions; ++i) names.emplace(name(static_cast<reduction>(i)));
  CHECK(names.size() == reductions);
  CHECK_FALSE(names.contains("unknown"));
  CHECK(name(static_cast<datatype>(datatypes)) == "unknown");
  CHECK(name(static_cast<reduction>(reductions)) == "unknown");
}

// A letter for each type, in the order of the enumeration: integers, reals, complex numbers,
// booleans, indexed integers, indexed reals, custom.
constexpr std::string_view kinds = "iiiiiiiiirrrrccbjjjkkx";

struct expectation {
  reduction op;
  std::string_view supported;
  std::string_view exact;  // of those
};
constexpr expectation expectations[] = {
    {reduction::none, "", ""},           {reduction::sum, "irc", "i"},
    {reduction::product, "irc", "i"},    {reduction::min, "ir", "i"},
    {reduction::max, "ir", "i"},         {reduction::logical_and, "ib", "ib"},
    {reduction::logical_or, "ib", "ib"}, {reduction::logical_xor, "ib", "ib"},
    {reduction::bit_and, "ib", "ib"},    {reduction::bit_or, "ib", "ib"},
    {reduction::bit_xor, "ib", "ib"},    {reduction::minloc, "jk", "j"},
    {reduction::maxloc, "jk", "j"},      {reduction::custom, "x", ""},
};

TEST_CASE("which reductions each type has, and which are exact") {
  static_assert(kinds.size() == datatypes && std::size(expectations) == reductions);
  for (const expectation& each : expectations) {
    for (std::size_t i = 0; i < datatypes; ++i) {
      const auto type = static_cast<datatype>(i);
      INFO(name(each.op), " of ", name(type));
      const bool supported = each.supported.find(kinds[i]) != std::string_view::npos;
      const bool exact = each.exact.find(kinds[i]) != std::string_view::npos;
      CHECK(supports(each.op, type) == supported);
      if (supported) CHECK(is_exact(each.op, type) == exact);
    }
  }
}

}  // namespace
}  // namespace muster::testing
