#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <muster/call/datatype.hpp>
#include <muster/call/narrow_float.hpp>

/// The built-in reductions of two elements. Always inlined, as they are used in functions that are
/// compiled for different processors.
namespace muster::operations {

template <class T>
concept narrow_float = std::same_as<T, float16> || std::same_as<T, bfloat16>;

/// What an element is while it is computed with. Integers are unsigned and at least as wide as int:
/// sums and products wrap, as users of reductions expect.
template <class T>
[[gnu::always_inline]] inline auto operand(T value) noexcept {
  if constexpr (narrow_float<T>) {
    return widen(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::common_type_t<std::make_unsigned_t<T>, unsigned>>(value);
  } else {
    return value;
  }
}
/// And the element that results.
template <class T, class Operand>
[[gnu::always_inline]] inline T result(Operand value) noexcept {
  if constexpr (narrow_float<T>) {
    return narrow<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

struct add {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return result<T>(operand(a) + operand(b));
  }
};
struct multiply {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return result<T>(operand(a) * operand(b));
  }
  /// The plain formula; the library's own looks for infinities behind every NaN.
  template <class T>
  [[gnu::always_inline]] static std::complex<T> apply(std::complex<T> a,
                                                      std::complex<T> b) noexcept {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

/// Whether a < b; not if either is NaN.
template <class T>
[[gnu::always_inline]] inline bool is_less(T a, T b) noexcept {
  if constexpr (narrow_float<T>) {
    return widen(a) < widen(b);
  } else {
    return a < b;
  }
}
struct lesser {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return is_less(b, a) ? b : a;
  }
};
struct greater {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return is_less(a, b) ? b : a;
  }
};

// Not && and ||, which branch.
struct logical_both {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(static_cast<T>(a != 0) & static_cast<T>(b != 0));
  }
};
struct logical_either {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>((a | b) != 0);
  }
};
struct logical_one {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct bits_of_both {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct bits_of_either {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct bits_of_one {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

/// The bytes of an `indexed<T>`, padding included: what is found is the whole of one element, the
/// same to the bit wherever it is computed.
template <class T>
struct indexed_bytes {
  std::array<std::uint64_t, sizeof(indexed<T>) / 8> words;

  [[gnu::always_inline]] T value() const noexcept { return part<T>(0); }
  [[gnu::always_inline]] std::int32_t index() const noexcept {
    return part<std::int32_t>(sizeof(indexed<T>) / 2);
  }

private:
  template <class Part>
  [[gnu::always_inline]] Part part(std::size_t offset) const noexcept {
    Part result;
    std::memcpy(&result, reinterpret_cast<const std::byte*>(words.data()) + offset, sizeof result);
    return result;
  }
};
static_assert(offsetof(indexed<std::int16_t>, index) == sizeof(indexed<std::int16_t>) / 2 &&
              offsetof(indexed<double>, index) == sizeof(indexed<double>) / 2);

// As MPI has it: of equal values the one with the lower index.
struct find_least {
  template <class T>
  [[gnu::always_inline]] static T apply(const T& a, const T& b) noexcept {
    const bool earlier = b.value() == a.value() && b.index() < a.index();
    return b.value() < a.value() || earlier ? b : a;
  }
};
struct find_greatest {
  template <class T>
  [[gnu::always_inline]] static T apply(const T& a, const T& b) noexcept {
    const bool earlier = b.value() == a.value() && b.index() < a.index();
    return a.value() < b.value() || earlier ? b : a;
  }
};

}  // namespace muster::operations
