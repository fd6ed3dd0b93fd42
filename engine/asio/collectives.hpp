#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include <muster/api/collectives.hpp>
#include <muster/api/sequencer.hpp>
#include <muster/api/values.hpp>
#include <muster/asio/awaited.hpp>

/// Collectives as asynchronous operations of Boost.Asio: each takes what its namesake of `muster`
/// does, and a completion token at its end.
///
/// - **Signature**: `void(boost::system::error_code)`, or with a `T` behind it where the
///   namesake's task has one. The code is Muster's (`muster_category`), and equals
///   `std::errc::operation_canceled`, `timed_out` or `connection_reset` where that fits. A wrong
///   argument completes the call, too, with `errc::invalid_argument`, before anything is sent.
/// - **Arguments**: lvalues that own elements, and what spans refer to, stay in place until it
///   completes; scalars and moved vectors are the operation's own.
/// - **Order**: calls take their places in the team's order as they are initiated; initiate
///   those of one team from one thread, or one strand.
/// - **Completion**: on the handler's associated executor, by default the context's, never
///   inside the initiating function, but by an immediate executor that runs it there (Boost 1.82
///   and later). Its associated allocator and cancellation slot are used. With `use_awaitable`
///   there is no handler where the call ends at once.
/// - **Cancellation**: of any type as long as the call waits for its turn, on the engine's
///   thread or in a sequencer, which takes it back (other ranks still make it); afterwards
///   `terminal`, which ends it with `errc::stopped` and breaks the team. Others are ignored then.
namespace muster::asio {
namespace detail {

/// Of a reference: of what it refers to.
template <class A>
inline constexpr bool owns_elements =
    std::ranges::range<A> && !std::ranges::borrowed_range<std::remove_cvref_t<A>>;
/// How an argument is kept: lvalues that own elements where they are; spans, other views and all
/// else as a value.
template <class A>
using kept = std::conditional_t<std::is_lvalue_reference_v<A> && owns_elements<A>, A,
                                std::remove_cvref_t<A>>;

/// How a kept argument is passed on: ranges that own their elements are moved.
template <class K>
constexpr decltype(auto) pass(std::remove_reference_t<K>& argument) noexcept {
  if constexpr (!std::is_lvalue_reference_v<K> && owns_elements<K>) {
    return std::move(argument);
  } else {
    return (argument);
  }
}

/// A call that waits to be made, once.
template <class Call, class... Kept>
struct prepared {
  team* on;
  Call call;
  std::tuple<Kept...> arguments;

  auto operator()() {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return call(*on, pass<Kept>(std::get<I>(arguments))...);
    }(std::index_sequence_for<Kept...>());
  }
};

template <class Call, class Token, class... A>
auto initiate_with(team& on, Call call, Token&& token, A&&... given) {
  using begin = prepared<Call, kept<A&&>...>;
  return initiate(driver_of(on),
                  begin{&on, call, std::tuple<kept<A&&>...>(std::forward<A>(given)...)},
                  std::forward<Token>(token));
}

/// A call that waits in a sequencer for its turn.
template <class Call>
struct in_order {
  sequencer* by;
  std::uint64_t key;
  Call call;
  bool has_place = false;  // in the team's order, or is about to

  auto operator()() {
    return by->run(key, [this] {
      has_place = true;
      return call();
    });
  }
};

/// The token is the last of them.
template <class Call, class... All>
auto initiate_with_last(team& on, Call call, All&&... all) {
  static_assert(sizeof...(All) != 0, "expected a completion token as the last argument");
  auto given = std::forward_as_tuple(std::forward<All>(all)...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    using tuple = std::tuple<All&&...>;
    using token = std::tuple_element_t<sizeof...(All) - 1, tuple>;
    return initiate_with(on, call, std::forward<token>(std::get<sizeof...(All) - 1>(given)),
                         std::forward<std::tuple_element_t<I, tuple>>(std::get<I>(given))...);
  }(std::make_index_sequence<sizeof...(All) - 1>());
}

}  // namespace detail

/// `muster::barrier`, and a completion token.
template <class... A>
auto async_barrier(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::barrier(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::bcast`, and a completion token.
template <class... A>
auto async_bcast(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::bcast(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::reduce`, and a completion token.
template <class... A>
auto async_reduce(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::reduce(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::allreduce`, and a completion token.
template <class... A>
auto async_allreduce(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::allreduce(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::scatter`, and a completion token.
template <class... A>
auto async_scatter(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::scatter(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::gather`, and a completion token.
template <class... A>
auto async_gather(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::gather(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::allgather`, and a completion token.
template <class... A>
auto async_allgather(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::allgather(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::alltoall`, and a completion token.
template <class... A>
auto async_alltoall(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::alltoall(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::reduce_scatter_block`, and a completion token.
template <class... A>
auto async_reduce_scatter_block(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::reduce_scatter_block(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::reduce_scatter`, and a completion token.
template <class... A>
auto async_reduce_scatter(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::reduce_scatter(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::scan`, and a completion token.
template <class... A>
auto async_scan(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::scan(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::exscan`, and a completion token.
template <class... A>
auto async_exscan(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::exscan(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::scatterv`, and a completion token.
template <class... A>
auto async_scatterv(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::scatterv(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::gatherv`, and a completion token.
template <class... A>
auto async_gatherv(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::gatherv(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::allgatherv`, and a completion token.
template <class... A>
auto async_allgatherv(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::allgatherv(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// `muster::alltoallv`, and a completion token.
template <class... A>
auto async_alltoallv(team& on, A&&... arguments_and_token) {
  constexpr auto call = [](team& of, auto&&... each) {
    return muster::alltoallv(of, std::forward<decltype(each)>(each)...);
  };
  return detail::initiate_with_last(on, call, std::forward<A>(arguments_and_token)...);
}

/// Any task of Muster on a team whose engine the context drives, and a completion token:
/// `async_run(team, muster::shrink(team), use_awaitable)`, or a message, or a coroutine of the
/// program's own. Where several threads run the context a collective of the team is called in
/// such a coroutine alone, not to make the task.
template <class T, class Token>
auto async_run(team& on, task<T> work, Token&& token) {
  auto begin = [own = std::move(work)]() mutable { return std::move(own); };
  return detail::initiate(detail::driver_of(on), std::move(begin), std::forward<Token>(token));
}

/// `sequencer::run`, and a completion token: calls `call()` when it is the turn of `key`, and runs
/// the task of a collective that it returns.
template <std::invocable Call, class Token>
auto async_in_order(sequencer& by, std::uint64_t key, Call call, Token&& token) {
  return detail::initiate(detail::driver_of(by.team()),
                          detail::in_order<Call>{&by, key, std::move(call)},
                          std::forward<Token>(token));
}

}  // namespace muster::asio
