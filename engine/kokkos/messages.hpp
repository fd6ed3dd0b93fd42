#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <muster/coro/task.hpp>
#include <muster/kokkos/door.hpp>
#include <muster/kokkos/operation.hpp>
#include <muster/run/team.hpp>

/// Messages of Views from rank to rank.
namespace muster::kokkos {
namespace detail {

/// A message's length beside what is to be done with its View.
template <class At, class Side>
task<std::size_t> run_receive(team&, At at, task<std::size_t> message, Side into) {
  task<std::size_t> mine = std::move(message);
  at.fence();
  into.load(at);
  const std::size_t came = co_await std::move(mine);
  into.store(at);
  co_return came;
}
template <class At, class Side>
task<std::size_t> run_staged_receive(team&, At at, task<std::size_t> message, Side into) {
  task<std::size_t> mine = std::move(message);
  at.fence();
  into.begin_packing(at);
  into.load(at, 0);
  into.fence(at);
  const std::size_t came = co_await std::move(mine);
  into.store(at, 0);
  into.begin_unpacking(at);
  into.fence(at);
  co_return came;
}

struct send_call {
  template <class At, class V>
  static task<> make(const At& at, team& on, std::size_t to, std::uint64_t tag, const V& data) {
    check_view<V>();
    const used<V> all{data, reads};
    return alone(at, on, nothing_to_combine(), all, whole,
                 [&](auto elements) { return on.send(to, tag, elements); });
  }
};

struct receive_call {
  template <class At, class V>
  static task<std::size_t> make(const At& at, team& on, std::size_t from, std::uint64_t tag,
                                const V& data) {
    check_receive<V>();
    // A message may be shorter: the rest stays as it was.
    const used<V> all{data, reads_and_writes};
    if constexpr (is_reachable<V>) {
      side<At, V> one(all.view, all.where, all.where.by, all.how);
      task<std::size_t> message = on.receive(from, tag, one.elements());
      return run_receive(on, at, std::move(message), std::move(one));
    } else {
      staged_side<At, V> one(all.view, all.where, all.where.by, all.how, 1, whole, 1);
      task<std::size_t> message = on.receive(from, tag, one.elements(0));
      return run_staged_receive(on, at, std::move(message), std::move(one));
    }
  }
};

/// As `door`, of what returns a task of something else.
struct receive_door {
  template <class V>
  task<std::size_t> operator()(team& on, std::size_t from, std::uint64_t tag, const V& data) const {
    return receive_call::make(default_instances{}, on, from, tag, data);
  }
  template <execution_space E, class V>
  task<std::size_t> operator()(const E& instance, team& on, std::size_t from, std::uint64_t tag,
                               const V& data) const {
    return receive_call::make(given_instance<E>{instance}, on, from, tag, data);
  }
};

}  // namespace detail

/// `send([instance,] team, to, tag, data)`: the elements in their order, for the `receive` of rank
/// `to`. \see team::send
inline constexpr detail::door<detail::send_call> send{};
/// `receive([instance,] team, from, tag, data)`: the next message of this tag from rank `from`,
/// into the first elements of `data` in their order. \returns how many came. \see team::receive
inline constexpr detail::receive_door receive{};

}  // namespace muster::kokkos
