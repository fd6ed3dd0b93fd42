#pragma once

#include <cstddef>

#include <muster/api/collectives.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/door.hpp>
#include <muster/kokkos/operation.hpp>
#include <muster/run/team.hpp>

/// Collectives on Views that move blocks of one length.
namespace muster::kokkos {
namespace detail {

/// In place at the root there are the blocks of all ranks, elsewhere there is one.
inline division at_root(const team& on, std::size_t root, std::size_t count) noexcept {
  const std::size_t blocks = on.rank() == root ? on.size() : 1;
  division result = blocks_of(blocks, blocks, count / blocks);
  result.most_blocks = on.size();
  return result;
}

struct barrier_call {
  template <class At>
  static task<> make(const At& at, team& on) {
    return run(on, at, nothing_to_combine(), muster::barrier(on));
  }
};

struct bcast_call {
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads : writes};
    return alone(at, on, nothing_to_combine(), all, vector_of(all.where.size()),
                 [&](auto elements) { return muster::bcast(on, elements, root); });
  }
};

struct scatter_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive, std::size_t root) {
    check_blocks<S, R>();
    const bool sends = on.rank() == root;
    const used<S> from{send, only_if(sends, reads)};
    const used<R> to{receive, writes};
    if (sends) require_one_order("scatter", from.where, to.where);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by,
                   blocks_of(on.size(), 1, to.where.size()),
                   [&](auto all, auto mine) { return muster::scatter(on, all, mine, root); });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads : writes};
    return alone(at, on, nothing_to_combine(), all, at_root(on, root, all.where.size()),
                 [&](auto elements) { return muster::scatter(on, elements, root); });
  }
};

struct gather_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive, std::size_t root) {
    check_blocks<S, R>();
    const bool receives = on.rank() == root;
    const used<S> from{send, reads};
    const used<R> to{receive, only_if(receives, writes)};
    if (receives) require_one_order("gather", from.where, to.where);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by,
                   blocks_of(1, on.size(), from.where.size()),
                   [&](auto mine, auto all) { return muster::gather(on, mine, all, root); });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads_and_writes : reads};
    return alone(at, on, nothing_to_combine(), all, at_root(on, root, all.where.size()),
                 [&](auto elements) { return muster::gather(on, elements, root); });
  }
};

struct allgather_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    const used<R> to{receive, writes};
    require_one_order("allgather", from.where, to.where);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by,
                   blocks_of(1, on.size(), from.where.size()),
                   [&](auto mine, auto all) { return muster::allgather(on, mine, all); });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    return alone(at, on, nothing_to_combine(), all,
                 blocks_of(on.size(), on.size(), all.where.size() / on.size()),
                 [&](auto elements) { return muster::allgather(on, elements); });
  }
};

struct alltoall_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    const used<R> to{receive, writes};
    require_one_order("alltoall", from.where, to.where);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by,
                   blocks_of(on.size(), on.size(), from.where.size() / on.size()),
                   [&](auto mine, auto theirs) { return muster::alltoall(on, mine, theirs); });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    return alone(at, on, nothing_to_combine(), all,
                 blocks_of(on.size(), on.size(), all.where.size() / on.size()),
                 [&](auto elements) { return muster::alltoall(on, elements); });
  }
};

}  // namespace detail

/// `barrier([instance,] team)`: after what the instance has been given so far.
inline constexpr detail::door<detail::barrier_call> barrier{};
/// `bcast([instance,] team, data, root)`. \see muster::bcast
inline constexpr detail::door<detail::bcast_call> bcast{};
/// `scatter([instance,] team, send, receive, root)`; in place `scatter(…, data, root)`.
/// \see muster::scatter
inline constexpr detail::door<detail::scatter_call> scatter{};
/// `gather([instance,] team, send, receive, root)`; in place `gather(…, data, root)`.
/// \see muster::gather
inline constexpr detail::door<detail::gather_call> gather{};
/// `allgather([instance,] team, send, receive)`; in place `allgather(…, data)`.
/// \see muster::allgather
inline constexpr detail::door<detail::allgather_call> allgather{};
/// `alltoall([instance,] team, send, receive)`; in place `alltoall(…, data)`. \see muster::alltoall
inline constexpr detail::door<detail::alltoall_call> alltoall{};

}  // namespace muster::kokkos
