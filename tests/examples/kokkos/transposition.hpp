#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

/// A transposition between ranks as one alltoall of two Views with gaps.
///
/// Before it a rank has `planes` planes of `rows` rows of `ranks * columns` elements, afterwards as
/// many planes of `columns` rows of `ranks * rows`, plane by plane the transposed matrix of all.
/// Block q of what is sent are the columns that rank q gets; block q of what is received are the
/// columns that rank q had as rows.
namespace examples {

struct transposition {
  std::size_t ranks;
  std::size_t planes;
  std::size_t rows;     ///< of a plane, before
  std::size_t columns;  ///< of a plane that a rank has as rows afterwards
  /// In elements, from one to the next.
  std::size_t row_before = ranks * columns;
  std::size_t plane_before = rows * row_before;
  std::size_t plane_after = columns * ranks * rows;
};

/// Elements as (rank, plane, row, column), where they are.
template <class T>
using blocks = Kokkos::View<T****, Kokkos::LayoutStride, Kokkos::HostSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
blocks<T> before(const transposition& of, T* first) {
  return blocks<T>(first, Kokkos::LayoutStride(of.ranks, of.columns, of.planes, of.plane_before,
                                               of.rows, of.row_before, of.columns, 1));
}
template <class T>
blocks<T> after(const transposition& of, T* first) {
  return blocks<T>(first, Kokkos::LayoutStride(of.ranks, of.rows, of.planes, of.plane_after,
                                               of.rows, 1, of.columns, of.ranks * of.rows));
}

/// On one rank, without communication.
template <class T>
void transpose_alone(const transposition& of, const T* from, T* to) {
  using host = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;
  Kokkos::parallel_for(
      "transpose", host(0, of.planes * of.columns), KOKKOS_LAMBDA(std::size_t i) {
        const std::size_t plane = i / of.columns;
        const std::size_t column = i % of.columns;
        const T* const source = from + plane * of.plane_before + column;
        T* const row = to + plane * of.plane_after + column * of.rows;
        for (std::size_t r = 0; r < of.rows; ++r) row[r] = source[r * of.row_before];
      });
  Kokkos::fence();
}

/// Each rank's part of the transposition, from the place of its first element to that of its first
/// one afterwards.
template <class T>
muster::task<> transpose(muster::team& among, transposition how, T* from, T* to) {
  if (how.ranks == 1) {
    transpose_alone(how, from, to);
    co_return;
  }
  co_await muster::kokkos::alltoall(among, before(how, from), after(how, to));
}

}  // namespace examples
