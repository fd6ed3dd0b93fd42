#pragma once

#include <cstddef>

#include <muster/api/collectives.hpp>
#include <muster/call/arguments.hpp>
#include <muster/call/elements.hpp>
#include <muster/call/neighborhood.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/door.hpp>
#include <muster/kokkos/operation.hpp>
#include <muster/kokkos/varying.hpp>
#include <muster/run/team.hpp>

/// Collectives on Views in which a rank exchanges blocks with its neighbors alone. Where it has no
/// destinations, or no sources, the View for these is ignored; what comes from nobody leaves its
/// block as it was.
namespace muster::kokkos {
namespace detail {

/// Both Views, as far as there is somebody to send to, and to receive from.
template <class S, class R>
struct neighbor_views {
  used<S> from;
  used<R> to;

  neighbor_views(const char* call, const S& send, const R& receive, const neighborhood& with)
      : from{send, only_if(!with.destinations.empty(), reads)},
        to{receive, only_if(!with.sources.empty(), reads_and_writes)} {
    if (from.how.reads && to.how.writes) require_one_order(call, from.where, to.where);
  }
};

struct neighbor_allgather_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive,
                     const neighborhood& with) {
    check_blocks<S, R>();
    const neighbor_views<S, R> all("neighbor_allgather", send, receive, with);
    return between(
        at, on, nothing_to_combine(), all.from, all.to, all.from.where.by, all.to.where.by, whole,
        [&](auto mine, auto theirs) { return muster::neighbor_allgather(on, mine, theirs, with); });
  }
};

struct neighbor_alltoall_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive,
                     const neighborhood& with) {
    check_blocks<S, R>();
    const neighbor_views<S, R> all("neighbor_alltoall", send, receive, with);
    return between(
        at, on, nothing_to_combine(), all.from, all.to, all.from.where.by, all.to.where.by, whole,
        [&](auto mine, auto theirs) { return muster::neighbor_alltoall(on, mine, theirs, with); });
  }
};

struct neighbor_allgatherv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive,
                     const block_layout& blocks, const neighborhood& with) {
    check_blocks<S, R>();
    const neighbor_views<S, R> all("neighbor_allgatherv", send, receive, with);
    muster::detail::require_within("neighbor_allgatherv", "receive", all.to.where.size(), blocks,
                                   with.sources.size(), "one for each source");
    const unit_layout<wire_of<R>> units(blocks);
    return between(at, on, nothing_to_combine(), all.from, all.to, all.from.where.by,
                   all.to.where.by, whole, [&](auto mine, auto theirs) {
                     return muster::neighbor_allgatherv(on, units_of(mine), units_of(theirs),
                                                        units.get(), with);
                   });
  }
};

struct neighbor_alltoallv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const block_layout& send_blocks,
                     const R& receive, const block_layout& receive_blocks,
                     const neighborhood& with) {
    check_blocks<S, R>();
    const neighbor_views<S, R> all("neighbor_alltoallv", send, receive, with);
    muster::detail::require_within("neighbor_alltoallv", "send", all.from.where.size(), send_blocks,
                                   with.destinations.size(), "one for each destination");
    muster::detail::require_within("neighbor_alltoallv", "receive", all.to.where.size(),
                                   receive_blocks, with.sources.size(), "one for each source");
    const unit_layout<wire_of<S>> sent(send_blocks);
    const unit_layout<wire_of<R>> received(receive_blocks);
    return between(at, on, nothing_to_combine(), all.from, all.to, all.from.where.by,
                   all.to.where.by, whole, [&](auto mine, auto theirs) {
                     return muster::neighbor_alltoallv(on, units_of(mine), sent.get(),
                                                       units_of(theirs), received.get(), with);
                   });
  }
};

}  // namespace detail

/// `neighbor_allgather([instance,] team, send, receive, with)`. \see muster::neighbor_allgather
inline constexpr detail::door<detail::neighbor_allgather_call> neighbor_allgather{};
/// `neighbor_alltoall([instance,] team, send, receive, with)`. \see muster::neighbor_alltoall
inline constexpr detail::door<detail::neighbor_alltoall_call> neighbor_alltoall{};
/// `neighbor_allgatherv([instance,] team, send, receive, blocks, with)`.
/// \see muster::neighbor_allgatherv
inline constexpr detail::door<detail::neighbor_allgatherv_call> neighbor_allgatherv{};
/// `neighbor_alltoallv([instance,] team, send, blocks, receive, blocks, with)`.
/// \see muster::neighbor_alltoallv
inline constexpr detail::door<detail::neighbor_alltoallv_call> neighbor_alltoallv{};

}  // namespace muster::kokkos
