#pragma once

#include <muster/kokkos/messages.hpp>
#include <muster/kokkos/movement.hpp>
#include <muster/kokkos/neighbors.hpp>
#include <muster/kokkos/reductions.hpp>
#include <muster/kokkos/varying.hpp>

/// Muster's collectives on Kokkos Views. Each takes what its namesake of `muster` does, with Views
/// instead of ranges, and may have an instance of an execution space before the team:
///
///     co_await muster::kokkos::allreduce(team, mine, total, muster::sum);
///     auto f = muster::start(muster::kokkos::alltoall(instance, team, send, receive));
///
/// - **Views**: of any rank, of LayoutRight, LayoutLeft or LayoutStride, of elements that are
///   trivially copyable (`is_movable`). Those to send may be of const elements. The operation holds
///   them: temporaries are safe. Subviews and others with gaps are packed by kernels into memory
///   that calls use again; others are read and written where they are.
/// - **Order of elements**: that of the layout. With LayoutRight the last index is the fastest,
/// with
///   LayoutLeft the first; LayoutStride counts as left where strides ascend, else as right. Block i
///   of a collective that has blocks is the i-th consecutive part in that order, so a part of the
///   slowest index. All ranks use one layout.
/// - **Element by element** (reduce, allreduce, scan, exscan): element (i, j) is combined with
/// element
///   (i, j), also where the layouts of the two Views differ. Extents are equal.
/// - **With an instance**: the operation begins, when it is awaited or started, after all that the
///   instance has been given so far, which is waited for (its own fence, no global one); kernels of
///   Muster's run on it where it can access the View. The result is there for what it is given
///   later, and for the host.
/// - **Without**: the caller has fenced. Kernels run on the View's default instance.
/// - **Reductions**: Muster's, as in `muster::allreduce`; a Kokkos reducer, as an object
///   (`Kokkos::Sum<double>(result)`) or as a type (`kokkos::reducer<Kokkos::MinLoc<double, int>>`);
///   a function `T(const T&, const T&)`, combined in rank order. Of reducers and functions the
///   operation has a copy.
/// - **Errors**: as the namesake's. What is wrong with an argument is thrown by the call; types and
///   layouts that do not fit do not compile.
/// - **Completion**: as the namesake's, on the thread that drives the team's engine; kernels run
///   there, too.
namespace muster::kokkos {}
