#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <muster/call/datatype.hpp>

namespace muster {

enum class reduction : std::uint8_t {
  none,
  sum,
  product,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  minloc,
  maxloc,
  custom,  ///< a `custom_reduction`
};
inline constexpr std::size_t reductions = 14;

std::string_view name(reduction op) noexcept;

/// What reduce and its kin combine with. Integer sums and products wrap around; min and max of
/// floating-point values keep a NaN on the left and ignore one on the right (`b < a ? b : a`);
/// logical ones give 0 or 1; minloc and maxloc give the lowest index of equal values.
inline constexpr reduction sum = reduction::sum;
inline constexpr reduction product = reduction::product;
inline constexpr reduction min = reduction::min;
inline constexpr reduction max = reduction::max;
inline constexpr reduction logical_and = reduction::logical_and;
inline constexpr reduction logical_or = reduction::logical_or;
inline constexpr reduction logical_xor = reduction::logical_xor;
inline constexpr reduction bit_and = reduction::bit_and;
inline constexpr reduction bit_or = reduction::bit_or;
inline constexpr reduction bit_xor = reduction::bit_xor;
inline constexpr reduction minloc = reduction::minloc;
inline constexpr reduction maxloc = reduction::maxloc;

/// Whether elements of this type can be combined so: sum and product of all numbers; min and max of
/// integers and reals; logical and bitwise of integers and booleans; minloc and maxloc of indexed
/// values.
bool supports(reduction op, datatype type) noexcept;
/// Whether the result is the same to the bit, but for padding, in whatever order elements are
/// combined.
bool is_exact(reduction op, datatype type) noexcept;

/// A reduction of the user's own. Lives until the operations that use it are complete; the same on
/// every rank. `make_reduction` makes one from a function of two elements.
struct custom_reduction {
  /// `to[i] = left[i] op right[i]` for `count` elements; `to` may be `left` or `right`. What it
  /// throws fails the operation.
  using function = void (*)(const custom_reduction& self, std::byte* to, const std::byte* left,
                            const std::byte* right, std::size_t count);

  function apply = nullptr;
  std::size_t element_bytes = 0;
  /// Otherwise operands are always combined in rank order, lower ranks on the left. It is taken to
  /// be associative in any case.
  bool commutative = false;
};

/// \see make_reduction
template <class T, class F>
class reduction_by final : public custom_reduction {
public:
  reduction_by(F combine, bool is_commutative)
      : custom_reduction{.apply = apply_to_all,
                         .element_bytes = sizeof(T),
                         .commutative = is_commutative},
        combine_(std::move(combine)) {}

private:
  // Elements may lie anywhere, whatever the alignment of T.
  using representation = std::array<std::byte, sizeof(T)>;
  static T element(const std::byte* at) {
    representation bytes;
    std::copy_n(at, sizeof(T), bytes.data());
    return std::bit_cast<T>(bytes);
  }

  static void apply_to_all(const custom_reduction& self, std::byte* to, const std::byte* left,
                           const std::byte* right, std::size_t count) {
    const F& combine = static_cast<const reduction_by&>(self).combine_;
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
      const T result = combine(element(left + at), element(right + at));
      const auto bytes = std::bit_cast<representation>(result);
      std::copy_n(bytes.data(), sizeof(T), to + at);
    }
  }

  F combine_;
};

enum class commutative : bool { no, yes };

/// A reduction of elements `T`, trivially copyable, by `combine(const T&, const T&) -> T`, which is
/// associative: `const auto longest = make_reduction<segment>(join, commutative::no);`
template <class T, class F>
  requires std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, const F&, const T&, const T&>
reduction_by<T, F> make_reduction(F combine, commutative order = commutative::no) {
  return {std::move(combine), order == commutative::yes};
}

/// In which order contributions are combined.
enum class combining : std::uint8_t {
  by_rank,     ///< reproducible to the bit
  by_arrival,  ///< an algorithm may begin with those that are there; for commutative reductions
};

/// What the typed reductions take: `sum`, or a `custom_reduction`, or `in_arrival_order` of either.
struct reducer {
  reducer(reduction op) noexcept : op(op) {}
  reducer(const custom_reduction& own) noexcept : op(reduction::custom), custom(&own) {}
  /// A temporary would be gone before the operation is complete.
  reducer(const custom_reduction&& own) = delete;

  reduction op;
  combining order = combining::by_rank;
  const custom_reduction* custom = nullptr;
};

/// Gives up bitwise reproducible results of floating-point values for not waiting for the slowest
/// rank before the first two are combined. All ranks of one call still see the same result.
inline reducer in_arrival_order(reducer what) noexcept {
  what.order = combining::by_arrival;
  return what;
}

}  // namespace muster
