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

/// Each rank's part of the transposition, from the place of its first element to that of its first
/// one afterwards.
template <class T>
muster::task<> transpose(muster::team& among, transposition how, T* from, T* to) {
  const blocks<T> sent = before(how, from);
  const blocks<T> received = after(how, to);
  if (how.ranks == 1) {
    Kokkos::deep_copy(received, sent);
    co_return;
  }
  co_await muster::kokkos::alltoall(among, sent, received);
}

}  // namespace examples
