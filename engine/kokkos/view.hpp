#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <muster/call/elements.hpp>

/// What a View is to the engine: elements of a type that travels, in an order, at places.
namespace muster::kokkos {

template <class V>
concept view = Kokkos::is_view<std::remove_cvref_t<V>>::value;
template <class E>
concept execution_space = Kokkos::is_execution_space<std::remove_cvref_t<E>>::value;

/// In which order the elements of a View travel.
enum class order {
  any,    ///< no elements, or at most one extent is more than 1
  left,   ///< first index fastest
  right,  ///< last index fastest
};
std::string_view name(order which) noexcept;

/// Whether elements travel as the bytes that they are: what is trivially copyable, and what Kokkos
/// has of its own that is so but for assignments to volatile objects. Can be specialized for types
/// of a program's own that are likewise.
template <class T>
inline constexpr bool is_movable = movable_element<T>;
template <class T>
inline constexpr bool is_movable<Kokkos::complex<T>> = true;
template <class T, class I>
inline constexpr bool is_movable<Kokkos::ValLocScalar<T, I>> = is_movable<T> && is_movable<I>;
template <class T>
inline constexpr bool is_movable<Kokkos::MinMaxScalar<T>> = is_movable<T>;
template <class T, class I>
inline constexpr bool is_movable<Kokkos::MinMaxLocScalar<T, I>> = is_movable<T> && is_movable<I>;

namespace detail {

/// What the engine takes an element for: a number that it knows, or bytes.
template <class T>
struct wire {
  using type = std::array<std::byte, sizeof(T)>;
};
template <number T>
struct wire<T> {
  using type = T;
};
template <class F>
  requires number<std::complex<F>>
struct wire<Kokkos::complex<F>> {
  static_assert(sizeof(std::complex<F>) == sizeof(Kokkos::complex<F>));
  using type = std::complex<F>;
};
template <class V>
using value_of = typename V::non_const_value_type;
template <class V>
using wire_of = typename wire<value_of<V>>::type;

template <class V>
inline constexpr std::size_t rank_of = static_cast<std::size_t>(V::rank);
template <class V>
inline constexpr bool is_readable_only = std::is_const_v<typename V::value_type>;
/// Whether the host can read and write the View's elements where they are.
template <class V>
inline constexpr bool is_reachable =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible;

template <class L>
inline constexpr bool is_plain_layout =
    std::is_same_v<L, Kokkos::LayoutLeft> || std::is_same_v<L, Kokkos::LayoutRight> ||
    std::is_same_v<L, Kokkos::LayoutStride>;

/// A program that does not compile otherwise is told so here.
template <class V>
consteval void check_view() {
  static_assert(view<V>, "muster::kokkos: expected a Kokkos::View");
  if constexpr (view<V>) {
    static_assert(is_plain_layout<typename V::array_layout>,
                  "muster::kokkos: expected a View of LayoutRight, LayoutLeft or LayoutStride");
    static_assert(is_movable<value_of<V>>,
                  "muster::kokkos: expected a View of a trivially copyable type, or one of which "
                  "muster::kokkos::is_movable says that its bytes may travel");
  }
}
template <class V>
consteval void check_receive() {
  check_view<V>();
  static_assert(!is_readable_only<V>,
                "muster::kokkos: expected a View of elements that are not const to receive into");
}
template <class S, class R>
consteval void check_types() {
  check_view<S>();
  check_receive<R>();
  static_assert(std::is_same_v<value_of<S>, value_of<R>>,
                "muster::kokkos: expected Views of one type of elements to send and to receive");
}
/// Where element (i, j, …) meets element (i, j, …).
template <class S, class R>
consteval void check_like() {
  check_types<S, R>();
  static_assert(rank_of<S> == rank_of<R>,
                "muster::kokkos: expected Views of one rank to send and to receive, since element "
                "(i, j, ...) is combined with element (i, j, ...)");
}
/// Where blocks follow each other.
template <class S, class R>
consteval void check_blocks() {
  check_types<S, R>();
  constexpr bool have_orders = rank_of<S> >= 2 && rank_of<R> >= 2;
  using from = typename S::array_layout;
  using to = typename R::array_layout;
  static_assert(!have_orders || std::is_same_v<from, to> ||
                    std::is_same_v<from, Kokkos::LayoutStride> ||
                    std::is_same_v<to, Kokkos::LayoutStride>,
                "muster::kokkos: expected Views of one layout to send and to receive, since blocks "
                "are consecutive in the layout's order");
}

inline constexpr std::size_t most_dimensions = 8;

/// Where the elements of a View are. Strides in elements.
struct placement {
  std::size_t rank = 0;
  std::array<std::size_t, most_dimensions> extents{};
  std::array<std::size_t, most_dimensions> strides{};
  order by = order::any;

  std::size_t size() const noexcept;
  /// Whether elements follow each other in this order, and nothing is between them.
  bool is_consecutive(order in) const noexcept;
};

/// The order of a View whose strides say it: `left` where they ascend.
order order_by_strides(const placement& of) noexcept;
/// How many extents are more than 1.
std::size_t wide_dimensions(const placement& of) noexcept;

template <class V>
placement placement_of(const V& of) noexcept {
  placement result;
  result.rank = rank_of<V>;
  if constexpr (rank_of<V> != 0) {
    for (std::size_t i = 0; i < rank_of<V>; ++i) {
      result.extents[i] = of.extent(i);
      result.strides[i] = of.stride(i);
    }
  }
  using layout = typename V::array_layout;
  if constexpr (rank_of<V> <= 1) return result;
  if (result.size() == 0 || wide_dimensions(result) <= 1) {
    result.by = order::any;
  } else if constexpr (std::is_same_v<layout, Kokkos::LayoutStride>) {
    result.by = order_by_strides(result);
  } else {
    result.by = std::is_same_v<layout, Kokkos::LayoutLeft> ? order::left : order::right;
  }
  return result;
}

/// "allreduce: send has extents 3 x 4; expected 4 x 3, those of receive". Each of these throws
/// `errc::invalid_argument`.
void require_like(std::string_view call, const placement& send, const placement& receive);
void require_one_order(std::string_view call, const placement& send, const placement& receive);

}  // namespace detail
}  // namespace muster::kokkos
