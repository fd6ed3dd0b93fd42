#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <muster/call/elements.hpp>
#include <muster/call/reduction.hpp>
#include <muster/coro/frame_pool.hpp>
#include <muster/kokkos/view.hpp>

/// What collectives that combine take beside Muster's own reductions: reducers of Kokkos, those of
/// a program's own, and functions of two elements.
namespace muster::kokkos {

/// What parallel_reduce takes as a reducer: Kokkos's own, and a program's that are like them.
template <class R>
concept kokkos_reducer = requires {
  typename R::reducer;
  typename R::value_type;
  typename R::result_view_type;
} && std::same_as<std::remove_cv_t<typename R::reducer>, std::remove_cv_t<R>>;

/// A reducer of Kokkos where none is at hand: `reducer<Kokkos::MinLoc<double, int>>`.
template <kokkos_reducer R>
struct reducer_type {};
template <kokkos_reducer R>
inline constexpr reducer_type<R> reducer{};

namespace detail {

/// What Kokkos's own reducers do to numbers that Muster knows.
template <class R>
inline constexpr reduction built_in = reduction::none;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::Sum<T, S>> = reduction::sum;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::Prod<T, S>> = reduction::product;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::Min<T, S>> = reduction::min;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::Max<T, S>> = reduction::max;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::LAnd<T, S>> = reduction::logical_and;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::LOr<T, S>> = reduction::logical_or;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::BAnd<T, S>> = reduction::bit_and;
template <class T, class S>
inline constexpr reduction built_in<Kokkos::BOr<T, S>> = reduction::bit_or;

/// A reducer's object, made where only its type is given.
template <kokkos_reducer R>
class made_reducer {
  using value = std::remove_cv_t<typename R::value_type>;

public:
  void join(value& to, const value& from) const {
    value unused(to);
    R(unused).join(to, from);
  }
};

/// join(to, from), whether `volatile` or not.
template <class F, class T>
concept joins = requires(const F& f, T& to, const T& from) { f.join(to, from); };
template <class F, class T>
concept combines = std::is_invocable_r_v<T, const F&, const T&, const T&>;

/// A reduction that the operation owns. Its memory is the frame pool's.
class owned_reduction {
public:
  virtual ~owned_reduction() = default;
  virtual const custom_reduction& get() const noexcept = 0;

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }
};

template <class T, class F>
class reduction_of final : public owned_reduction, private custom_reduction {
public:
  reduction_of(F by, bool is_commutative)
      : custom_reduction{.apply = apply_to_all,
                         .element_bytes = sizeof(T),
                         .commutative = is_commutative},
        by_(std::move(by)) {}
  const custom_reduction& get() const noexcept override { return *this; }

private:
  /// An element at its alignment, which those of a call need not have.
  class element {
  public:
    explicit element(const std::byte* from) { std::copy_n(from, sizeof(T), bytes_.data()); }
    T& get() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_.data())); }
    void write_to(std::byte* to) const { std::copy_n(bytes_.data(), sizeof(T), to); }

  private:
    alignas(T) std::array<std::byte, sizeof(T)> bytes_;
  };

  static void apply_to_all(const custom_reduction& self, std::byte* to, const std::byte* left,
                           const std::byte* right, std::size_t count) {
    const F& by = static_cast<const reduction_of&>(self).by_;
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
      element result(left + at);
      element other(right + at);
      if constexpr (combines<F, T>) {
        result.get() = by(std::as_const(result.get()), std::as_const(other.get()));
      } else {
        by.join(result.get(), std::as_const(other.get()));
      }
      result.write_to(to + at);
    }
  }

  F by_;
};

/// What a call combines with, and keeps for it.
class kept_reduction {
public:
  explicit(false) kept_reduction(muster::reducer by) noexcept : by_(by) {}
  explicit kept_reduction(std::unique_ptr<owned_reduction> own) noexcept
      : by_(own->get()), own_(std::move(own)) {}
  muster::reducer get() const noexcept { return by_; }

private:
  muster::reducer by_;
  std::unique_ptr<owned_reduction> own_;
};

template <class T, class F>
kept_reduction own(F by, bool is_commutative) {
  return kept_reduction(std::make_unique<reduction_of<T, F>>(std::move(by), is_commutative));
}

/// Kokkos takes reducers to commute.
template <class T, kokkos_reducer R, class F>
kept_reduction reduction_by_reducer(F by) {
  static_assert(std::same_as<std::remove_cv_t<typename R::value_type>, T>,
                "muster::kokkos: expected a reducer whose value_type is that of the View");
  static_assert(joins<R, T>, "muster::kokkos: expected a reducer with join(to, from)");
  using on_wire = typename wire<T>::type;
  if constexpr (built_in<R> != reduction::none && number<on_wire>) {
    if (supports(built_in<R>, datatype_of<on_wire>())) return muster::reducer(built_in<R>);
  }
  return own<T>(std::move(by), true);
}

template <class Op>
inline constexpr bool is_reducer_type = false;
template <class R>
inline constexpr bool is_reducer_type<reducer_type<R>> = true;

template <class T, class R>
kept_reduction reduction_by_type(reducer_type<R>) {
  return reduction_by_reducer<T, R>(made_reducer<R>());
}

/// Of elements T: what an argument of a call means.
template <class T, class Op>
kept_reduction reduction_for(Op&& given) {
  using op = std::remove_cvref_t<Op>;
  constexpr bool is_own = std::derived_from<op, custom_reduction>;
  if constexpr (is_own && !std::is_lvalue_reference_v<Op>) {
    static_assert(!is_own || std::is_lvalue_reference_v<Op>,
                  "muster::kokkos: expected a reduction that outlives the operation, not a "
                  "temporary");
  } else if constexpr (std::convertible_to<Op&&, muster::reducer>) {
    return muster::reducer(given);
  } else if constexpr (is_reducer_type<op>) {
    return reduction_by_type<T>(given);
  } else if constexpr (kokkos_reducer<op>) {
    return reduction_by_reducer<T, op>(op(given));
  } else if constexpr (combines<op, T>) {
    return own<T>(op(std::forward<Op>(given)), false);
  } else {
    static_assert(joins<op, T>,
                  "muster::kokkos: expected a reduction of Muster's (muster::sum, ...), a reducer "
                  "of Kokkos, or a function T(const T&, const T&) of the View's elements");
    return own<T>(op(std::forward<Op>(given)), true);
  }
}

}  // namespace detail
}  // namespace muster::kokkos
