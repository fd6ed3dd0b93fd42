#pragma once

#include <Kokkos_Core.hpp>

#include <utility>

#include <muster/call/reduction.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/reducers.hpp>
#include <muster/kokkos/sides.hpp>
#include <muster/kokkos/view.hpp>
#include <muster/run/team.hpp>

/// How all collectives on Views are called.
namespace muster::kokkos::detail {

/// A collective: callable with and without an instance of an execution space before the team.
template <class Call>
struct door {
  template <class... A>
  task<> operator()(team& on, A&&... arguments) const {
    return Call::make(default_instances{}, on, std::forward<A>(arguments)...);
  }
  template <execution_space E, class... A>
  task<> operator()(const E& instance, team& on, A&&... arguments) const {
    return Call::make(given_instance<E>{instance}, on, std::forward<A>(arguments)...);
  }
};

inline kept_reduction nothing_to_combine() { return muster::reducer(reduction::none); }

}  // namespace muster::kokkos::detail
