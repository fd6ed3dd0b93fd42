#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <muster/kokkos/view.hpp>

/// Views that are not consecutive are copied to memory that is, and back, by kernels.
namespace muster::kokkos::detail {

/// The dimensions of a View in the order in which its elements travel, the fastest first, and where
/// they are. Those of extent 1 are left out, and those that follow each other are one.
struct walk {
  std::size_t rank = 1;
  // Not of std: devices read them, too.
  Kokkos::Array<std::int64_t, most_dimensions> extents{};
  Kokkos::Array<std::int64_t, most_dimensions> strides{};  ///< in the View
  /// How a kernel cuts it: pieces of so many elements of the fastest dimension and of another one,
  /// which is the nearest in memory.
  std::size_t other = 0;
  std::int64_t fastest_piece = 1;
  std::int64_t other_piece = 1;

  std::int64_t size() const noexcept;
  std::int64_t pieces() const noexcept;
};
walk walk_through(const placement& of, order in) noexcept;

enum class direction : bool { pack, unpack };

template <class T, direction D>
using in_view = std::conditional_t<D == direction::pack, const T, T>;
template <class T, direction D>
using in_packed = std::conditional_t<D == direction::pack, T, const T>;

/// A kernel: one element, on a device whose neighboring threads are to touch neighboring memory.
template <class T, direction D>
struct copy_element {
  walk by;
  in_view<T, D>* view;
  in_packed<T, D>* packed;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t rest = i;
    std::int64_t at = 0;
    for (std::size_t d = 0; d < by.rank; ++d) {
      at += rest % by.extents[d] * by.strides[d];
      rest /= by.extents[d];
    }
    if constexpr (D == direction::pack) {
      packed[i] = view[at];
    } else {
      view[at] = packed[i];
    }
  }
};

/// A kernel: a piece, on a processor with caches.
template <class T, direction D>
struct copy_piece {
  walk by;
  in_view<T, D>* view;
  in_packed<T, D>* packed;

  void operator()(std::int64_t piece) const {
    std::int64_t rest = piece;
    std::int64_t at = 0;
    std::int64_t at_packed = 0;
    std::int64_t length = 1;   // of the fastest dimension, from where the piece begins
    std::int64_t lengths = 1;  // of the other one
    std::int64_t other_step = 0;
    std::int64_t below = 1;
    for (std::size_t d = 0; d < by.rank; ++d) {
      const std::int64_t step = d == 0 ? by.fastest_piece : d == by.other ? by.other_piece : 1;
      const std::int64_t parts = (by.extents[d] + step - 1) / step;
      const std::int64_t begin = rest % parts * step;
      rest /= parts;
      at += begin * by.strides[d];
      at_packed += begin * below;
      const std::int64_t left = by.extents[d] - begin;
      if (d == 0) {
        length = left < step ? left : step;
      } else if (d == by.other) {
        lengths = left < step ? left : step;
        other_step = below;
      }
      below *= by.extents[d];
    }
    const std::int64_t other_stride = by.other == 0 ? 0 : by.strides[by.other];
    for (std::int64_t j = 0; j < lengths; ++j) {
      copy_row(view + at + j * other_stride, packed + at_packed + j * other_step, length);
    }
  }

private:
  void copy_row(in_view<T, D>* row, in_packed<T, D>* consecutive, std::int64_t count) const {
    const std::int64_t stride = by.strides[0];
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (D == direction::pack) {
        consecutive[i] = row[i * stride];
      } else {
        row[i * stride] = consecutive[i];
      }
    }
  }
};

/// Copies between a View and memory in which its elements follow each other. Not fenced.
/// \param on where the kernel runs: a space that can access both
template <direction D, class T, class Exec>
void copy(const Exec& on, const walk& by, in_view<T, D>* view, in_packed<T, D>* packed) {
  using index = Kokkos::IndexType<std::int64_t>;
  using policy = Kokkos::RangePolicy<Exec, index>;
  const std::string label = D == direction::pack ? "muster pack" : "muster unpack";
  // Not a device that can access the host's memory, too.
  if constexpr (std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>) {
    Kokkos::parallel_for(label, policy(on, 0, by.pieces()), copy_piece<T, D>{by, view, packed});
  } else {
    Kokkos::parallel_for(label, policy(on, 0, by.size()), copy_element<T, D>{by, view, packed});
  }
}

}  // namespace muster::kokkos::detail
