#pragma once

#include <stop_token>

#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>

namespace muster {
namespace detail {

/// Puts the awaiting coroutine, and so all it awaits, into a scope.
struct enter_scope {
  const stop_scope* scope;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    self.promise().place.scope = scope;
    return false;
  }
  void await_resume() const noexcept {}
};

}  // namespace detail

/// Runs `work` and stops it when `token` is asked to stop, from any thread: its waits end with
/// `errc::stopped`. A team of which an operation was stopped half-way is broken.
template <class T>
task<T> with_stop(std::stop_token token, task<T> work) {
  const coroutine_place place = co_await this_coroutine{};
  stop_scope scope(place.scope);
  scope.follow(token);
  // The engine may be asleep when the stop comes.
  const std::stop_callback wake(token, [where = place.where] {
    if (where != nullptr) where->ring();
  });
  co_await detail::enter_scope{&scope};
  co_return co_await std::move(work);
}

/// Runs `work`, whose waits end with `errc::deadline_exceeded` if it has not completed `limit`
/// after it began.
template <class T>
task<T> with_timeout(clock_time limit, task<T> work) {
  const coroutine_place place = co_await this_coroutine{};
  stop_scope scope(place.scope);
  const clock_time now = place.where->now();
  // A limit beyond the end of time is none.
  if (limit < clock_time::max() - now) scope.expire_at(now + limit);
  co_await detail::enter_scope{&scope};
  co_return co_await std::move(work);
}

}  // namespace muster
