#include "tools/conformance/contents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "tools/conformance/placement.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

// Reference arithmetic in the plainest form. Each kind of element says what a call's contributions
// are made of, given something random, and how two of them combine.

bool is_logical(reduction op) {
  return op == reduction::logical_and || op == reduction::logical_or ||
         op == reduction::logical_xor;
}

/// Integers wrap, so they are computed unsigned.
template <class T>
struct integers {
  using type = T;

  static T made(const spec& call, std::size_t rank, std::uint64_t random) {
    if (call.op == reduction::product) return static_cast<T>(random | 1);
    if (!is_logical(call.op)) return static_cast<T>(random);
    if ((random >> 32) % 2 == 0) return 0;
    // What is never combined is not made 0 or 1; that can only be what rank 0 contributes.
    return rank == 0 ? T{1} : static_cast<T>(random);
  }

  static T combined(const spec& call, T a, T b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (call.op) {
      case reduction::sum:
        return static_cast<T>(x + y);
      case reduction::product:
        return static_cast<T>(x * y);
      case reduction::min:
        return std::min(a, b);
      case reduction::max:
        return std::max(a, b);
      case reduction::logical_and:
        return a != 0 && b != 0 ? 1 : 0;
      case reduction::logical_or:
        return a != 0 || b != 0 ? 1 : 0;
      case reduction::logical_xor:
        return (a != 0) != (b != 0) ? 1 : 0;
      case reduction::bit_and:
        return static_cast<T>(x & y);
      case reduction::bit_or:
        return static_cast<T>(x | y);
      default:
        return static_cast<T>(x ^ y);
    }
  }
};

struct booleans : integers<std::uint8_t> {
  static std::uint8_t made(const spec&, std::size_t, std::uint64_t random) { return random >> 63; }
};

template <class T>
T real_combined(const spec& call, T a, T b) {
  switch (call.op) {
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

double fraction(std::uint64_t random) { return 0.5 + static_cast<double>(random >> 11) * 0x1p-53; }
double sign(std::uint64_t random) { return random & 64 ? 1 : -1; }
/// Half, one or two times what it is called with.
double power_of_two(std::uint64_t random) {
  return static_cast<double>(std::int64_t{1} << (random % 3)) / 2;
}

template <class T>
struct reals {
  using type = T;

  static T made(const spec& call, std::size_t, std::uint64_t random) {
    if (call.rounded) return static_cast<T>(fraction(random));
    if (call.op == reduction::product) return static_cast<T>(power_of_two(random) * sign(random));
    return static_cast<T>(static_cast<std::int64_t>(random % 2048) - 1024);
  }
  static T combined(const spec& call, T a, T b) { return real_combined(call, a, b); }
};

// As `ldexp` and `ilogb`, which take many times as long, of what no float is too large or small
// for.
double two_to(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}
int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023;
}

/// Floating point in 16 bits, so many of them for the fraction.
template <int fraction_bits>
struct halves {
  using type = std::uint16_t;
  static constexpr int exponent_bits = 15 - fraction_bits;
  static constexpr int infinite = (1 << exponent_bits) - 1;
  static constexpr int least_exponent = 2 - (1 << (exponent_bits - 1));

  static float decoded(std::uint16_t bits) {
    const int exponent = bits >> fraction_bits & infinite;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int units = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    const auto value = static_cast<float>(
        units * two_to(std::max(exponent, 1) - 1 + least_exponent - fraction_bits));
    const float magnitude = exponent == infinite ? INFINITY : value;
    return bits >> 15 == 0 ? magnitude : -magnitude;
  }

  /// To nearest, ties to even.
  static std::uint16_t encoded(float value) {
    const double magnitude = std::abs(static_cast<double>(value));
    const int exponent = std::max(exponent_of(magnitude), least_exponent);
    const double units = std::nearbyint(magnitude * two_to(fraction_bits - exponent));
    const auto bits = static_cast<int>(units) + ((exponent - least_exponent) << fraction_bits);
    const int most = infinite << fraction_bits;
    return static_cast<std::uint16_t>(std::min(bits, most) | (std::signbit(value) ? 0x8000 : 0));
  }

  static std::uint16_t made(const spec& call, std::size_t rank, std::uint64_t random) {
    if (call.rounded) return encoded(static_cast<float>(fraction(random)));
    // So few steps that 200 ranks do not leave the range.
    if (call.op == reduction::product) {
      return encoded(
          static_cast<float>((rank % 16 == 0 ? power_of_two(random) : 1) * sign(random)));
    }
    constexpr int range = fraction_bits > 8 ? 17 : 3;
    return encoded(static_cast<float>(static_cast<int>(random % range) - range / 2));
  }
  static std::uint16_t combined(const spec& call, std::uint16_t a, std::uint16_t b) {
    return encoded(real_combined(call, decoded(a), decoded(b)));
  }
};

template <class T>
struct complexes {
  using type = std::array<T, 2>;

  /// Products: 1, i, -1 or -i times, for some ranks, 2 + i, whose powers never lie on an axis,
  /// where the order of multiplication would show in the sign of a zero.
  static type made(const spec& call, std::size_t rank, std::uint64_t random) {
    if (call.op == reduction::sum) {
      return {reals<T>::made(call, rank, random), reals<T>::made(call, rank, random >> 20)};
    }
    type value = {rank % 16 == 0 ? T{2} : T{1}, rank % 16 == 0 ? T{1} : T{0}};
    for (std::size_t turns = random % 4; turns > 0; --turns) value = {-value[1], value[0]};
    return value;
  }
  static type combined(const spec& call, const type& a, const type& b) {
    if (call.op == reduction::sum) return {a[0] + b[0], a[1] + b[1]};
    return {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
  }
};

template <class T>
struct pairs {
  using type = indexed<T>;

  /// Few values, so that many are equal.
  static type made(const spec&, std::size_t, std::uint64_t random) {
    return {static_cast<T>(static_cast<int>(random % 5) - 2),
            static_cast<std::int32_t>(random >> 40)};
  }
  static type combined(const spec& call, const type& a, const type& b) {
    if (a.value == b.value) return a.index <= b.index ? a : b;
    return (a.value < b.value) == (call.op == reduction::minloc) ? a : b;
  }
};

template <class T>
struct owns {
  using type = T;

  static T made(const spec&, std::size_t, std::uint64_t random) {
    std::array<std::uint64_t, 3> words = {random, mix_bits(random), mix_bits(~random)};
    T value;
    std::memcpy(&value, words.data(), sizeof value);
    return value;
  }
  static T combined(const spec&, const T& a, const T& b) { return joined(a, b); }
};

/// `body.template operator()<kind>()` for the kind of the call's elements.
template <class Body>
void with_kind(const spec& call, Body body) {
  switch (call.type) {
    case datatype::byte:
    case datatype::uint8:
      return body.template operator()<integers<std::uint8_t>>();
    case datatype::int8:
      return body.template operator()<integers<std::int8_t>>();
    case datatype::int16:
      return body.template operator()<integers<std::int16_t>>();
    case datatype::uint16:
      return body.template operator()<integers<std::uint16_t>>();
    case datatype::int32:
      return body.template operator()<integers<std::int32_t>>();
    case datatype::uint32:
      return body.template operator()<integers<std::uint32_t>>();
    case datatype::int64:
      return body.template operator()<integers<std::int64_t>>();
    case datatype::uint64:
      return body.template operator()<integers<std::uint64_t>>();
    case datatype::float32:
      return body.template operator()<reals<float>>();
    case datatype::float64:
      return body.template operator()<reals<double>>();
    case datatype::float16:
      return body.template operator()<halves<10>>();
    case datatype::bfloat16:
      return body.template operator()<halves<7>>();
    case datatype::complex64:
      return body.template operator()<complexes<float>>();
    case datatype::complex128:
      return body.template operator()<complexes<double>>();
    case datatype::boolean:
      return body.template operator()<booleans>();
    case datatype::int16_indexed:
      return body.template operator()<pairs<std::int16_t>>();
    case datatype::int32_indexed:
      return body.template operator()<pairs<std::int32_t>>();
    case datatype::int64_indexed:
      return body.template operator()<pairs<std::int64_t>>();
    case datatype::float32_indexed:
      return body.template operator()<pairs<float>>();
    case datatype::float64_indexed:
      return body.template operator()<pairs<double>>();
    case datatype::custom:
      break;
  }
  switch (call.own) {
    case own_reduction::matrices:
      return body.template operator()<owns<matrix>>();
    case own_reduction::maps:
      return body.template operator()<owns<map>>();
    case own_reduction::stretches:
      return body.template operator()<owns<stretch>>();
    default:
      return body.template operator()<owns<triple>>();
  }
}

template <class T>
T element_at(std::span<const std::byte> from, std::size_t at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

void fill_bytes(random_stream& random, std::span<std::byte> to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(to.data() + at, &word, std::min(sizeof word, to.size() - at));
  }
}

void combine_into(const spec& call, std::span<std::byte> sum, std::span<const std::byte> next) {
  with_kind(call, [&]<class Kind>() {
    using T = typename Kind::type;
    for (std::size_t at = 0; at + sizeof(T) <= sum.size(); at += sizeof(T)) {
      const T all = Kind::combined(call, element_at<T>(sum, at), element_at<T>(next, at));
      std::memcpy(sum.data() + at, &all, sizeof(T));
    }
  });
}

/// What the first ranks contribute, or their blocks for a rank, combined.
std::vector<std::byte> reduced(const spec& call, std::size_t ranks, std::size_t block,
                               std::size_t count) {
  std::vector<std::byte> sum(count * call.element());
  std::vector<std::byte> next(sum.size());
  fill(call, 0, block, sum);
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    fill(call, rank, block, next);
    combine_into(call, sum, next);
  }
  return sum;
}

std::vector<std::byte> filled(const spec& call, std::size_t rank, std::size_t block,
                              std::size_t count) {
  std::vector<std::byte> result(count * call.element());
  fill(call, rank, block, result);
  return result;
}

}  // namespace

std::size_t spec::element() const noexcept {
  return own == own_reduction::none ? size_of(type) : custom_of(own).element_bytes;
}

std::string describe(const spec& call) {
  std::string text(name(call.what));
  text += has_varying_blocks(call.what) ? "(up to " : "(";
  text += std::to_string(call.count) + " x " + std::string(name(call.type)) + ", " +
          std::string(name(call.op));
  if (call.own != own_reduction::none) text += " of " + std::string(name(call.own));
  text += ", root " + std::to_string(call.root);
  if (call.in_place) text += ", in place";
  if (call.rounded) text += ", rounded";
  if (call.order == combining::by_arrival) text += ", in arrival order";
  text += ")";
  return call.by.empty() ? text : text + " by " + call.by;
}

void fill(const spec& call, std::size_t rank, std::size_t block, std::span<std::byte> to) {
  random_stream random(derive(call.seed + call.refilled, rank << 20 | block));
  if (call.op == reduction::none) return fill_bytes(random, to);
  with_kind(call, [&]<class Kind>() {
    using T = typename Kind::type;
    for (std::size_t at = 0; at + sizeof(T) <= to.size(); at += sizeof(T)) {
      const T value = Kind::made(call, rank, random.next());
      std::memcpy(to.data() + at, &value, sizeof(T));
    }
  });
  clear_padding(call, to);
}

void clear_padding(const spec& call, std::span<std::byte> elements) {
  with_kind(call, [&]<class Kind>() {
    using T = typename Kind::type;
    if constexpr (requires(T pair) { pair.index; }) {
      constexpr std::size_t value_end = sizeof(T{}.value);
      constexpr std::size_t index = offsetof(T, index);
      constexpr std::size_t index_end = index + sizeof(T{}.index);
      for (std::size_t at = 0; at + sizeof(T) <= elements.size(); at += sizeof(T)) {
        const auto one = elements.subspan(at, sizeof(T));
        std::ranges::fill(one.subspan(value_end, index - value_end), std::byte{0});
        std::ranges::fill(one.subspan(index_end), std::byte{0});
      }
    }
  });
}

std::vector<std::byte> expected(const spec& call, std::size_t ranks, std::size_t rank) {
  const std::size_t count = own_count(call, rank);
  switch (call.what) {
    case collective::bcast:
      return filled(call, call.root, 0, count);
    case collective::scatter:
    case collective::scatterv:
      return filled(call, call.root, rank, count);
    case collective::reduce:
      return rank == call.root ? reduced(call, ranks, 0, count) : std::vector<std::byte>();
    case collective::allreduce:
      return reduced(call, ranks, 0, count);
    case collective::scan:
      return reduced(call, rank + 1, 0, count);
    case collective::exscan:
      return rank > 0 ? reduced(call, rank, 0, count) : std::vector<std::byte>();
    case collective::reduce_scatter_block:
    case collective::reduce_scatter:
      return reduced(call, ranks, rank, count);
    default:
      break;
  }
  return {};
}

}  // namespace muster::testing
