#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <span>
#include <utility>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/reducers.hpp>
#include <muster/kokkos/sides.hpp>
#include <muster/kokkos/staging.hpp>
#include <muster/kokkos/view.hpp>
#include <muster/run/team.hpp>

/// A call on Views: checked and made when it is called, fenced, packed and run when it is awaited.
namespace muster::kokkos::detail {

/// Holds what the operation uses until its end.
template <class At, class... Sides>
task<> run(team&, At at, kept_reduction, task<> operation, Sides... sides) {
  // A local: it is gone, and nobody writes any more, before the sides are.
  task<> mine = std::move(operation);
  at.fence();
  (sides.load(at), ...);
  co_await std::move(mine);
  (sides.store(at), ...);
}

/// A View that a call sends from and receives into.
template <class V>
struct used {
  const V& view;
  access how;
  placement where = placement_of(view);
};

/// A call's elements, as many as there are, to be looked at and not touched.
template <class V>
std::span<wire_of<V>> whole_of(const used<V>& of) noexcept {
  return {reinterpret_cast<wire_of<V>*>(nowhere()), of.where.size()};
}

/// The operations of all segments.
/// \param all makes one of everything, which is checked as the caller gave it and goes
template <class All, class Part>
pooled_list<task<>> parts_of(std::size_t segments, const All& all, const Part& part) {
  {
    const task<> checked = all();
  }
  pooled_list<task<>> parts;
  parts.reserve(segments);
  for (std::size_t s = 0; s < segments; ++s) parts.push_back(part(s));
  return parts;
}

/// How a call with one View, or two, is made of elements: `make(data)`, `make(send, receive)`.
/// \param cut how Views are cut where they are staged
template <class At, class V, class Make>
task<> alone(const At& at, team& on, kept_reduction by, const used<V>& data, const division& cut,
             const Make& make) {
  if constexpr (is_reachable<V>) {
    side<At, V> one(data.view, data.where, data.where.by, data.how);
    task<> operation = make(one.elements());
    return run(on, at, std::move(by), std::move(operation), std::move(one));
  } else {
    const std::size_t segments = segments_of(cut, sizeof(value_of<V>));
    staged_side<At, V> one(data.view, data.where, data.where.by, data.how, cut.send_blocks, cut,
                           segments);
    const auto part = [&](std::size_t s) { return make(one.elements(s)); };
    pooled_list<task<>> parts = parts_of(segments, [&] { return make(whole_of(data)); }, part);
    return run_staged(on, at, std::move(by), std::move(parts), std::move(one));
  }
}

/// \param send_in, receive_in the orders in which elements travel
template <class At, class S, class R, class Make>
task<> between(const At& at, team& on, kept_reduction by, const used<S>& send,
               const used<R>& receive, order send_in, order receive_in, const division& cut,
               const Make& make) {
  if constexpr (is_reachable<S> && is_reachable<R>) {
    side<At, S> from(send.view, send.where, send_in, send.how);
    side<At, R> to(receive.view, receive.where, receive_in, receive.how);
    task<> operation = make(from.elements(), to.elements());
    return run(on, at, std::move(by), std::move(operation), std::move(from), std::move(to));
  } else {
    const std::size_t segments = segments_of(cut, sizeof(value_of<R>));
    staged_side<At, S> from(send.view, send.where, send_in, send.how, cut.send_blocks, cut,
                            segments);
    staged_side<At, R> to(receive.view, receive.where, receive_in, receive.how, cut.receive_blocks,
                          cut, segments);
    const auto part = [&](std::size_t s) { return make(from.elements(s), to.elements(s)); };
    pooled_list<task<>> parts =
        parts_of(segments, [&] { return make(whole_of(send), whole_of(receive)); }, part);
    return run_staged(on, at, std::move(by), std::move(parts), std::move(from), std::move(to));
  }
}

}  // namespace muster::kokkos::detail
