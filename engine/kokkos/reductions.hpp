#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <muster/api/collectives.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/door.hpp>
#include <muster/kokkos/operation.hpp>
#include <muster/kokkos/reducers.hpp>
#include <muster/run/team.hpp>

/// Collectives on Views that combine.
namespace muster::kokkos {
namespace detail {

/// Whose result can be combined in place.
template <class R>
concept has_result = kokkos_reducer<R> && view<typename R::result_view_type>;

struct reduce_call {
  template <class At, class S, class R, class Op>
  static task<> make(const At& at, team& on, const S& send, const R& receive, Op&& op,
                     std::size_t root) {
    check_like<S, R>();
    const bool receives = on.rank() == root;
    const used<S> from{send, reads};
    const used<R> to{receive, only_if(receives, writes)};
    if (receives) require_like("reduce", from.where, to.where);
    kept_reduction by = reduction_for<value_of<R>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    // The order of what every rank has.
    return between(at, on, std::move(by), from, to, from.where.by, from.where.by,
                   vector_of(from.where.size()),
                   [&](auto mine, auto all) { return muster::reduce(on, mine, all, with, root); });
  }
  template <class At, class V, class Op>
  static task<> make(const At& at, team& on, const V& data, Op&& op, std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads_and_writes : reads};
    kept_reduction by = reduction_for<value_of<V>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return alone(at, on, std::move(by), all, vector_of(all.where.size()),
                 [&](auto elements) { return muster::reduce(on, elements, with, root); });
  }
  template <class At, has_result R>
  static task<> make(const At& at, team& on, const R& result, std::size_t root) {
    return make(at, on, result.view(), result, root);
  }
};

/// Element by element, on every rank: `What` names the collective, says what a rank does with what
/// it receives into, and calls it.
template <class What>
struct elementwise_call {
  template <class At, class S, class R, class Op>
  static task<> make(const At& at, team& on, const S& send, const R& receive, Op&& op) {
    check_like<S, R>();
    const used<S> from{send, reads};
    const used<R> to{receive, only_if(What::receives(on), writes)};
    require_like(What::name, from.where, to.where);
    kept_reduction by = reduction_for<value_of<R>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return between(at, on, std::move(by), from, to, to.where.by, to.where.by,
                   vector_of(to.where.size()),
                   [&](auto mine, auto all) { return What::call(on, with, mine, all); });
  }
  template <class At, class V, class Op>
  static task<> make(const At& at, team& on, const V& data, Op&& op) {
    check_receive<V>();
    const used<V> all{data, What::receives(on) ? reads_and_writes : reads};
    kept_reduction by = reduction_for<value_of<V>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return alone(at, on, std::move(by), all, vector_of(all.where.size()),
                 [&](auto elements) { return What::call(on, with, elements); });
  }
  template <class At, has_result R>
  static task<> make(const At& at, team& on, const R& result) {
    return make(at, on, result.view(), result);
  }
};

struct allreduce_of_all {
  static constexpr const char* name = "allreduce";
  static bool receives(const team&) noexcept { return true; }
  template <class... Elements>
  static task<> call(team& on, const muster::reducer& with, Elements... elements) {
    return muster::allreduce(on, elements..., with);
  }
};
struct scan_of_all {
  static constexpr const char* name = "scan";
  static bool receives(const team&) noexcept { return true; }
  template <class... Elements>
  static task<> call(team& on, const muster::reducer& with, Elements... elements) {
    return muster::scan(on, elements..., with);
  }
};
struct exscan_of_all {
  static constexpr const char* name = "exscan";
  /// That of rank 0 is left as it was.
  static bool receives(const team& on) noexcept { return on.rank() != 0; }
  template <class... Elements>
  static task<> call(team& on, const muster::reducer& with, Elements... elements) {
    return muster::exscan(on, elements..., with);
  }
};
using allreduce_call = elementwise_call<allreduce_of_all>;
using scan_call = elementwise_call<scan_of_all>;
using exscan_call = elementwise_call<exscan_of_all>;

struct reduce_scatter_block_call {
  template <class At, class S, class R, class Op>
  static task<> make(const At& at, team& on, const S& send, const R& receive, Op&& op) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    const used<R> to{receive, writes};
    require_one_order("reduce_scatter_block", from.where, to.where);
    kept_reduction by = reduction_for<value_of<R>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return between(at, on, std::move(by), from, to, from.where.by, to.where.by,
                   blocks_of(on.size(), 1, to.where.size()), [&](auto all, auto mine) {
                     return muster::reduce_scatter_block(on, all, mine, with);
                   });
  }
  template <class At, class V, class Op>
  static task<> make(const At& at, team& on, const V& data, Op&& op) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    kept_reduction by = reduction_for<value_of<V>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return alone(at, on, std::move(by), all,
                 blocks_of(on.size(), on.size(), all.where.size() / on.size()),
                 [&](auto elements) { return muster::reduce_scatter_block(on, elements, with); });
  }
};

struct reduce_scatter_call {
  using counts = std::span<const std::size_t>;

  template <class At, class S, class R, class Op>
  static task<> make(const At& at, team& on, const S& send, counts each, const R& receive,
                     Op&& op) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    const used<R> to{receive, writes};
    require_one_order("reduce_scatter", from.where, to.where);
    kept_reduction by = reduction_for<value_of<R>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return between(
        at, on, std::move(by), from, to, from.where.by, to.where.by, whole,
        [&](auto all, auto mine) { return muster::reduce_scatter(on, all, each, mine, with); });
  }
  template <class At, class V, class Op>
  static task<> make(const At& at, team& on, const V& data, counts each, Op&& op) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    kept_reduction by = reduction_for<value_of<V>>(std::forward<Op>(op));
    const muster::reducer with = by.get();
    return alone(at, on, std::move(by), all, whole,
                 [&](auto elements) { return muster::reduce_scatter(on, elements, each, with); });
  }
};

}  // namespace detail

/// `reduce([instance,] team, send, receive, op, root)`; in place `reduce(…, data, op, root)`; of
/// the result that a Kokkos reducer refers to `reduce(…, reducer, root)`. \see muster::reduce
inline constexpr detail::door<detail::reduce_call> reduce{};
/// `allreduce([instance,] team, send, receive, op)`; in place `allreduce(…, data, op)`; of the
/// result that a Kokkos reducer refers to `allreduce(…, reducer)`. \see muster::allreduce
inline constexpr detail::door<detail::allreduce_call> allreduce{};
/// `scan([instance,] team, send, receive, op)`; in place `scan(…, data, op)`; of the result that a
/// Kokkos reducer refers to `scan(…, reducer)`. \see muster::scan
inline constexpr detail::door<detail::scan_call> scan{};
/// `exscan([instance,] team, send, receive, op)`; in place `exscan(…, data, op)`; of the result
/// that a Kokkos reducer refers to `exscan(…, reducer)`. \see muster::exscan
inline constexpr detail::door<detail::exscan_call> exscan{};
/// `reduce_scatter_block([instance,] team, send, receive, op)`; in place `…(…, data, op)`.
/// \see muster::reduce_scatter_block
inline constexpr detail::door<detail::reduce_scatter_block_call> reduce_scatter_block{};
/// `reduce_scatter([instance,] team, send, counts, receive, op)`; in place `…(…, data, counts,
/// op)`. Counts are in elements of the Views, in their order. \see muster::reduce_scatter
inline constexpr detail::door<detail::reduce_scatter_call> reduce_scatter{};

}  // namespace muster::kokkos
