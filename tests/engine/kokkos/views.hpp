#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// Views of every layout and form for the tests, and their elements in order.
namespace muster::testing {

/// Where elements of a View are, in the order of its layout, by its strides alone: `visit(i,
/// place)`.
template <class V, class F>
void for_each_place(const V& view, bool left, F visit) {
  constexpr auto rank = static_cast<std::size_t>(V::rank);
  std::size_t size = 1;
  for (std::size_t d = 0; d < rank; ++d) size *= view.extent(d);
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t rest = i;
    std::size_t at = 0;
    for (std::size_t step = 0; step < rank; ++step) {
      const std::size_t d = left ? step : rank - 1 - step;
      at += rest % view.extent(d) * view.stride(d);
      rest /= view.extent(d);
    }
    visit(i, at);
  }
}

/// The same of the elements themselves: `visit(i, element)`.
template <class V, class F>
void for_each_element(const V& view, bool left, F visit) {
  for_each_place(view, left, [&](std::size_t i, std::size_t at) { visit(i, view.data()[at]); });
}

template <class V>
auto elements(const V& view, bool left) {
  std::vector<typename V::non_const_value_type> all;
  for_each_element(view, left, [&](std::size_t, const auto& each) { all.push_back(each); });
  return all;
}

/// Views `n x m` of one form: `make(name, n, m)`. The rest of what lies between is `filler`.
inline constexpr double filler = -77;

struct right_view {
  static constexpr bool left = false;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    return Kokkos::View<T**, Kokkos::LayoutRight>(label, n, m);
  }
};
struct left_view {
  static constexpr bool left = true;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    return Kokkos::View<T**, Kokkos::LayoutLeft>(label, n, m);
  }
};
/// Rows of a longer View: the fastest index without gaps.
struct right_rows {
  static constexpr bool left = false;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    const Kokkos::View<T**, Kokkos::LayoutRight> all(label, n + 2, m + 3);
    Kokkos::deep_copy(all, T(filler));
    return Kokkos::subview(all, std::pair<std::size_t, std::size_t>(1, n + 1),
                           std::pair<std::size_t, std::size_t>(2, m + 2));
  }
};
struct left_rows {
  static constexpr bool left = true;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    const Kokkos::View<T**, Kokkos::LayoutLeft> all(label, n + 2, m + 3);
    Kokkos::deep_copy(all, T(filler));
    return Kokkos::subview(all, std::pair<std::size_t, std::size_t>(1, n + 1),
                           std::pair<std::size_t, std::size_t>(2, m + 2));
  }
};
/// A plane of a cube: gaps between all elements.
struct right_plane {
  static constexpr bool left = false;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    const Kokkos::View<T***, Kokkos::LayoutRight> all(label, n, m, 3);
    Kokkos::deep_copy(all, T(filler));
    return Kokkos::subview(all, Kokkos::ALL, Kokkos::ALL, 1);
  }
};
struct left_plane {
  static constexpr bool left = true;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    const Kokkos::View<T***, Kokkos::LayoutLeft> all(label, 3, n, m);
    Kokkos::deep_copy(all, T(filler));
    return Kokkos::subview(all, 1, Kokkos::ALL, Kokkos::ALL);
  }
};
/// LayoutStride, whose strides say the order.
template <bool Left>
struct strided {
  static constexpr bool left = Left;
  template <class T = double>
  static auto make(const std::string& label, std::size_t n, std::size_t m) {
    const std::size_t gap = 1;
    const auto layout = Left ? Kokkos::LayoutStride(n, 2, m, 2 * (n + gap))
                             : Kokkos::LayoutStride(n, 2 * (m + gap), m, 2);
    const Kokkos::View<T**, Kokkos::LayoutStride> all(label, layout);
    for (std::size_t i = 0; i < all.span(); ++i) all.data()[i] = T(filler);
    return all;
  }
};

/// Whether what lies between the View's elements is as it was made.
template <class V>
bool gaps_are_untouched(const V& view) {
  std::vector<std::size_t> places;
  for_each_element(view, true, [&](std::size_t, const auto& each) {
    places.push_back(static_cast<std::size_t>(&each - view.data()));
  });
  std::ranges::sort(places);
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    for (std::size_t at = places[i] + 1; at < places[i + 1]; ++at) {
      if (view.data()[at] != typename V::non_const_value_type(filler)) return false;
    }
  }
  return true;
}

}  // namespace muster::testing
