// Combining: every form of it that this processor can run, for every reduction that a type has,
// gives what a plain reference gives; and so do reductions of the user's own.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <muster/call/combine.hpp>

#include "tests/engine/call/plain_float.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using bytes = std::vector<std::byte>;

// ---- the reference: one element at a time

template <class T>
T plain_integer(reduction op, T a, T b) {
  // Wide enough for all; what is cut off wraps.
  const auto left = static_cast<__int128>(a);
  const auto right = static_cast<__int128>(b);
  switch (op) {
    case reduction::sum:
      return static_cast<T>(left + right);
    case reduction::product:
      return static_cast<T>(static_cast<unsigned __int128>(left) *
                            static_cast<unsigned __int128>(right));
    case reduction::min:
      return std::min(a, b);
    case reduction::max:
      return std::max(a, b);
    case reduction::logical_and:
      return a && b ? 1 : 0;
    case reduction::logical_or:
      return a || b ? 1 : 0;
    case reduction::logical_xor:
      return !a != !b ? 1 : 0;
    case reduction::bit_and:
      return static_cast<T>(left & right);
    case reduction::bit_or:
      return static_cast<T>(left | right);
    default:
      return static_cast<T>(left ^ right);
  }
}

template <class T>
T plain_real(reduction op, T a, T b) {
  switch (op) {
    case reduction::sum:
      return a + b;
    case reduction::product:
      return a * b;
    case reduction::min:
      return b < a ? b : a;
    default:
      return a < b ? b : a;
  }
}

template <class T>
T plain_narrow(const plain_float& format, reduction op, T a, T b) {
  const double left = format.decode(a.bits);
  const double right = format.decode(b.bits);
  if (op == reduction::min) return right < left ? b : a;
  if (op == reduction::max) return left < right ? b : a;
  const auto result = static_cast<float>(op == reduction::sum ? left + right : left * right);
  return T::from_bits(std::isnan(result) ? 0x7fff : format.encode(result));
}

template <class T>
std::complex<T> plain_complex(reduction op, std::complex<T> a, std::complex<T> b) {
  if (op == reduction::sum) return {a.real() + b.real(), a.imag() + b.imag()};
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
bool is_right_found(reduction op, const indexed<T>& a, const indexed<T>& b) {
  if (a.value == b.value) return b.index < a.index;
  return op == reduction::minloc ? b.value < a.value : a.value < b.value;
}

template <class T>
struct is_indexed : std::false_type {};
template <class T>
struct is_indexed<indexed<T>> : std::true_type {};

template <class T>
void plain_step(reduction op, std::byte* to, const std::byte* next) {
  T a;
  T b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, next, sizeof b);
  if constexpr (is_indexed<T>()) {
    if (is_right_found(op, a, b)) std::memcpy(to, next, sizeof(T));  // padding, too
    return;
  } else if constexpr (std::is_integral_v<T>) {
    a = plain_integer(op, a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    a = plain_real(op, a, b);
  } else if constexpr (std::is_same_v<T, float16>) {
    a = plain_narrow(plain_float16, op, a, b);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    a = plain_narrow(plain_bfloat16, op, a, b);
  } else {
    a = plain_complex(op, a, b);
  }
  std::memcpy(to, &a, sizeof a);
}

// ---- the types

/// A type as this test sees it.
struct kind {
  datatype type;
  std::size_t component;  // bytes of a number in it
  void (*step)(reduction op, std::byte* to, const std::byte* next);
  bool (*is_nan)(const std::byte* component);
};

bool never_nan(const std::byte*) { return false; }
template <class T>
bool is_real_nan(const std::byte* component) {
  T value;
  std::memcpy(&value, component, sizeof value);
  if constexpr (std::is_same_v<T, float16>) {
    return plain_float16.is_nan(value.bits);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return plain_bfloat16.is_nan(value.bits);
  } else {
    return std::isnan(value);
  }
}

template <class T>
constexpr kind exact(datatype type) {
  return {type, sizeof(T), plain_step<T>, never_nan};
}
template <class T, class Component = T>
constexpr kind rounded(datatype type) {
  return {type, sizeof(Component), plain_step<T>, is_real_nan<Component>};
}
// What is found is the whole of one element, whatever it holds.
template <class T>
constexpr kind found(datatype type) {
  return {type, sizeof(T), plain_step<indexed<T>>, never_nan};
}

constexpr std::array<kind, datatypes - 1> kinds = {
    exact<std::uint8_t>(datatype::byte),
    exact<std::int8_t>(datatype::int8),
    exact<std::uint8_t>(datatype::uint8),
    exact<std::int16_t>(datatype::int16),
    exact<std::uint16_t>(datatype::uint16),
    exact<std::int32_t>(datatype::int32),
    exact<std::uint32_t>(datatype::uint32),
    exact<std::int64_t>(datatype::int64),
    exact<std::uint64_t>(datatype::uint64),
    rounded<float>(datatype::float32),
    rounded<double>(datatype::float64),
    rounded<float16>(datatype::float16),
    rounded<bfloat16>(datatype::bfloat16),
    rounded<std::complex<float>, float>(datatype::complex64),
    rounded<std::complex<double>, double>(datatype::complex128),
    exact<std::uint8_t>(datatype::boolean),
    found<std::int16_t>(datatype::int16_indexed),
    found<std::int32_t>(datatype::int32_indexed),
    found<std::int64_t>(datatype::int64_indexed),
    found<float>(datatype::float32_indexed),
    found<double>(datatype::float64_indexed),
};

bytes plain_fold(reduction op, const kind& of, std::span<const std::byte* const> from,
                 std::size_t length) {
  bytes result(from[0], from[0] + length);
  for (const std::byte* next : from.subspan(1)) {
    for (std::size_t at = 0; at < length; at += size_of(of.type)) {
      of.step(op, result.data() + at, next + at);
    }
  }
  return result;
}

/// To the bit, but any NaN for any other.
bool same(const kind& of, std::span<const std::byte> a, std::span<const std::byte> b) {
  for (std::size_t at = 0; at < a.size(); at += of.component) {
    const bool alike = std::memcmp(&a[at], &b[at], of.component) == 0;
    if (!alike && !(of.is_nan(&a[at]) && of.is_nan(&b[at]))) return false;
  }
  return true;
}

// ---- the inputs

/// Numbers of all sorts: any bits, small ones, equal ones, zeros, infinities, NaNs, the least.
void fill(std::span<std::byte> element, std::size_t component, random_stream& random) {
  constexpr std::array<std::uint16_t, 10> upper = {0x0000, 0x8000, 0x7f80, 0xff80, 0x7ff0,
                                                   0xfff0, 0x7c00, 0x7fc0, 0x3f80, 0x7fff};
  const auto sort = random.below(4);
  for (std::size_t at = 0; at < element.size(); ++at) {
    element[at] = static_cast<std::byte>(sort == 0   ? random.below(256)
                                         : sort == 1 ? random.below(64)
                                                     : 0);
  }
  for (std::size_t at = 0; at < element.size() && sort >= 2; at += component) {
    if (sort == 2) element[at] = static_cast<std::byte>(random.below(3));
    const std::uint16_t top = upper[random.below(upper.size())];
    if (sort == 3 && component == 1) element[at] = static_cast<std::byte>(top >> 8);
    if (sort == 3 && component > 1) std::memcpy(&element[at + component - 2], &top, 2);
  }
}

/// Inputs at odd addresses, so that nothing relies on alignment.
class inputs {
public:
  inputs(std::size_t how_many, std::size_t length) : memory_(how_many, bytes(length + 1)) {}

  void fill_with(const kind& of, random_stream& random) {
    for (bytes& each : memory_) {
      for (std::size_t at = 1; at < each.size(); at += size_of(of.type)) {
        fill(std::span(each).subspan(at, size_of(of.type)), of.component, random);
      }
    }
  }
  std::vector<const std::byte*> all() const {
    std::vector<const std::byte*> result;
    for (const bytes& each : memory_) result.push_back(each.data() + 1);
    return result;
  }
  std::span<std::byte> at(std::size_t i) { return std::span(memory_[i]).subspan(1); }

private:
  std::vector<bytes> memory_;
};

// Around where single elements, one tile and several tiles begin, in elements of any size.
constexpr std::array<std::size_t, 14> counts = {0,   1,   7,    16,   17,   31,   128,
                                                129, 256, 1000, 2047, 2048, 2049, 5000};

void check_all_forms(reduction op, const kind& of, std::size_t how_many, std::size_t count,
                     random_stream& random) {
  const std::size_t length = count * size_of(of.type);
  inputs from(how_many, length);
  from.fill_with(of, random);
  const auto all = from.all();
  const bytes expected = plain_fold(op, of, all, length);
  for (const combiner form : combiners()) {
    bytes result(length + 1);
    form(op, of.type, result.data() + 1, all, count);
    CHECK(same(of, expected, std::span(result).subspan(1)));
  }
  if (const few_combiner few = combiner_of_few(op, of.type, length)) {
    bytes result(length);
    few(result.data(), all, count);
    CHECK(same(of, expected, result));
  }
  const std::size_t over = random.below(how_many);
  combine(op, of.type, from.at(over).data(), all, count);
  CHECK(same(of, expected, from.at(over)));
}

TEST_CASE("all forms, types and operations, to the bit") {
  random_stream random(run_seed());
  INFO(how_to_replay());
  for (const kind& of : kinds) {
    for (std::size_t op = 0; op < reductions; ++op) {
      const auto with = static_cast<reduction>(op);
      if (!supports(with, of.type)) continue;
      INFO(name(with), " of ", name(of.type));
      for (const std::size_t count : counts) {
        check_all_forms(with, of, 1 + random.below(5), count, random);
      }
    }
  }
}

template <class T>
const std::byte* bytes_of(const T& elements) {
  return reinterpret_cast<const std::byte*>(elements.data());
}

template <class T>
std::vector<T> combined(const combiner form, reduction op, datatype type, const std::vector<T>& a,
                        const std::vector<T>& b) {
  std::vector<T> result(a.size());
  const std::array from = {bytes_of(a), bytes_of(b)};
  form(op, type, reinterpret_cast<std::byte*>(result.data()), from, a.size());
  return result;
}

// Short and long vectors take different loops.
constexpr std::array<std::size_t, 2> lengths = {3, 300};

template <class T>
void check_known(reduction op, datatype type, T a, T b, T expected) {
  for (const combiner form : combiners()) {
    for (const std::size_t length : lengths) {
      const std::vector<T> left(length, a);
      const std::vector<T> right(length, b);
      CHECK(combined(form, op, type, left, right) == std::vector<T>(length, expected));
    }
  }
}

TEST_CASE("known numbers") {
  using complex = std::complex<double>;
  check_known(sum, datatype::float64, 1.5, 2.25, 3.75);
  check_known<std::int32_t>(sum, datatype::int32, 2147483647, 1, -2147483647 - 1);
  check_known<std::uint16_t>(product, datatype::uint16, 65535, 65535, 1);
  check_known(product, datatype::complex128, complex(1, 2), complex(3, 4), complex(-5, 10));
  check_known<std::int32_t>(logical_and, datatype::int32, 2, 4, 1);
  check_known<std::int32_t>(bit_and, datatype::int32, 6, 3, 2);
  check_known<std::int64_t>(logical_xor, datatype::int64, 2, 4, 0);
}

TEST_CASE("the lower index of equal values") {
  using pair = indexed<double>;
  check_known(minloc, datatype::float64_indexed, pair{1, 7}, pair{1, 3}, pair{1, 3});
  check_known(minloc, datatype::float64_indexed, pair{1, 3}, pair{1, 7}, pair{1, 3});
  check_known(maxloc, datatype::float64_indexed, pair{1, -2}, pair{1, 3}, pair{1, -2});
  check_known(maxloc, datatype::float64_indexed, pair{1, 3}, pair{2, 7}, pair{2, 7});
  check_known(minloc, datatype::float64_indexed, pair{0.0, 5}, pair{-0.0, 4}, pair{-0.0, 4});
  using short_pair = indexed<std::int16_t>;
  check_known(maxloc, datatype::int16_indexed, short_pair{-1, 1}, short_pair{-1, 0},
              short_pair{-1, 0});
}

// The formula's own result: a library that recovers infinities would find one here.
TEST_CASE("a complex product recovers no infinity from a NaN") {
  using complex = std::complex<float>;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const combiner form : combiners()) {
    const std::vector<complex> a(40, {infinity, infinity});
    const std::vector<complex> b(40, {1, 1});
    for (const complex& each : combined(form, product, datatype::complex64, a, b)) {
      CHECK(std::isnan(each.real()));
      CHECK(each.imag() == infinity);
    }
  }
}

// ---- reductions of the user's own

template <std::size_t Bytes>
using block = std::array<std::byte, Bytes>;

/// Neither commutative nor, for this, associative: shows the order in which it was called.
template <std::size_t Bytes>
block<Bytes> mixed(const block<Bytes>& a, const block<Bytes>& b) {
  block<Bytes> result;
  for (std::size_t i = 0; i < Bytes; ++i) {
    result[i] = static_cast<std::byte>(3 * std::to_integer<unsigned>(a[i]) +
                                       std::to_integer<unsigned>(b[i]) + i);
  }
  return result;
}

template <std::size_t Bytes>
bytes mixed_all(std::span<const std::byte* const> from, std::size_t length) {
  bytes result(from[0], from[0] + length);
  for (const std::byte* next : from.subspan(1)) {
    for (std::size_t i = 0; i < length; ++i) {
      result[i] = static_cast<std::byte>(3 * std::to_integer<unsigned>(result[i]) +
                                         std::to_integer<unsigned>(next[i]) + i % Bytes);
    }
  }
  return result;
}

/// Over no input, and over each of them.
template <std::size_t Bytes>
void check_own(std::size_t how_many, std::size_t count, random_stream& random) {
  const auto own = make_reduction<block<Bytes>>(mixed<Bytes>);
  const std::size_t length = count * Bytes;
  for (std::size_t over = 0; over <= how_many; ++over) {
    inputs from(how_many + 1, length);
    for (std::size_t i = 0; i <= how_many; ++i) {
      for (std::byte& each : from.at(i)) each = static_cast<std::byte>(random.below(256));
    }
    auto all = from.all();
    all.pop_back();  // the last is a place apart
    const bytes expected = mixed_all<Bytes>(all, length);
    combine(own, from.at(over).data(), all, count);
    CHECK(std::ranges::equal(expected, from.at(over)));
  }
}

TEST_CASE("reductions of the user's own, of elements of any size") {
  random_stream random(run_seed());
  INFO(how_to_replay());
  for (std::size_t how_many = 1; how_many <= 5; ++how_many) {
    for (const std::size_t count : {0, 1, 2, 7, 85, 86, 683, 3000}) {
      check_own<1>(how_many, count, random);
      check_own<3>(how_many, count, random);
      check_own<24>(how_many, count, random);
    }
    for (const std::size_t count : {0, 1, 2, 5}) check_own<5000>(how_many, count, random);
  }
}

TEST_CASE("products of matrices stay in order") {
  struct matrix {
    int a, b, c, d;
    bool operator==(const matrix&) const = default;
  };
  const auto times = make_reduction<matrix>([](const matrix& x, const matrix& y) {
    return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                  x.c * y.b + x.d * y.d};
  });
  std::vector<matrix> shear(200, {1, 1, 0, 1});
  const std::vector<matrix> turn(200, {0, -1, 1, 0});
  const std::vector<matrix> stretch(200, {2, 0, 0, 1});
  const std::array from = {bytes_of(shear), bytes_of(turn), bytes_of(stretch)};
  combine(times, reinterpret_cast<std::byte*>(shear.data()), from, shear.size());
  CHECK(shear == std::vector<matrix>(200, {2, -1, 2, 0}));
}

arguments call_with(const custom_reduction& own) {
  arguments call;
  call.what = collective::allreduce;
  call.op = reduction::custom;
  call.type = datatype::custom;
  call.custom = &own;
  return call;
}

TEST_CASE("a call says what combines") {
  std::vector<std::int32_t> result(2);
  const std::vector<std::int32_t> a = {7, 8};
  const std::vector<std::int32_t> b = {3, 9};
  const std::array from = {bytes_of(a), bytes_of(b)};
  auto* const to = reinterpret_cast<std::byte*>(result.data());
  arguments call;
  call.op = max;
  call.type = datatype::int32;
  combine(call, to, from, 2);
  CHECK(result == std::vector<std::int32_t>{7, 9});
  const auto minus = make_reduction<std::int32_t>([](int x, int y) { return x - y; });
  combine(call_with(minus), to, from, 2);
  CHECK(result == std::vector<std::int32_t>{4, -1});
}

TEST_CASE("what a reduction of the user's own throws is passed on; for nothing it is not called") {
  const auto failing = make_reduction<int>(
      [](int, int) -> int { throw std::domain_error("these do not go together"); });
  std::vector<int> result(4, 5);
  const std::vector<int> input(4, 9);
  const std::array from = {bytes_of(input), bytes_of(input), bytes_of(input)};
  auto* const to = reinterpret_cast<std::byte*>(result.data());
  CHECK_THROWS_AS(combine(failing, to, from, 4), std::domain_error);
  combine(failing, to, from, 0);
  CHECK(result == std::vector<int>(4, 5));
  combine(failing, to, std::span(from).first(1), 4);
  CHECK(result == input);
}

}  // namespace
}  // namespace muster::testing
