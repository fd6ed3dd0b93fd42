#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>

namespace muster {
namespace detail {

/// Where the children of a `when_all` meet: counts them, keeps the first failure and stops the
/// rest.
class join {
public:
  join(coroutine_place place, std::size_t children) noexcept
      : scope_(place.scope), place_{place.where, &scope_}, open_(children + 1) {}

  const coroutine_place& place() const noexcept { return place_; }

  void fail(std::exception_ptr failure) noexcept {
    if (first_failure_) return;
    first_failure_ = std::move(failure);
    scope_.request_stop();
  }
  void rethrow() const {
    if (first_failure_) std::rethrow_exception(first_failure_);
  }

  /// Called by each child at its end; what to resume next.
  std::coroutine_handle<> arrive() noexcept {
    return --open_ == 0 ? parent_ : std::noop_coroutine();
  }

  bool await_ready() noexcept { return --open_ == 0; }
  void await_suspend(std::coroutine_handle<> parent) noexcept { parent_ = parent; }
  void await_resume() const noexcept {}

private:
  stop_scope scope_;
  coroutine_place place_;
  std::size_t open_;  // one more than the children until the parent itself waits
  std::coroutine_handle<> parent_;
  std::exception_ptr first_failure_;
};

/// The coroutine around one child of a `when_all`.
class child {
public:
  struct promise_type : promise_base {
    template <class Task, class Slot>
    promise_type(Task&, join& meeting, Slot&) noexcept : at(&meeting) {
      place = meeting.place();
    }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> self) const noexcept {
        return self.promise().at->arrive();
      }
      void await_resume() const noexcept {}
    };
    child get_return_object() noexcept {
      return child(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { at->fail(std::current_exception()); }

    join* at;
  };

  child(child&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  child& operator=(child&&) = delete;
  ~child() {
    if (frame_) frame_.destroy();
  }
  void begin() { frame_.resume(); }

private:
  explicit child(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

template <class T>
using result_or_nothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
template <class T>
using result_slot = std::optional<result_or_nothing<T>>;

template <class T>
child run_child(task<T> work, join&, result_slot<T>& slot) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(work);
    slot.emplace();
  } else {
    slot.emplace(co_await std::move(work));
  }
}

template <class... T, std::size_t... I>
std::array<child, sizeof...(T)> make_children(join& meeting, std::tuple<task<T>...>& tasks,
                                              std::tuple<result_slot<T>...>& slots,
                                              std::index_sequence<I...>) {
  return {run_child<T>(std::move(std::get<I>(tasks)), meeting, std::get<I>(slots))...};
}

template <class... T, std::size_t... I>
std::tuple<result_or_nothing<T>...> take_results(std::tuple<result_slot<T>...>& slots,
                                                 std::index_sequence<I...>) {
  return {std::move(*std::get<I>(slots))...};
}

/// `when_all` of tasks that are still to do.
template <class... T>
auto all_of(task<T>... tasks) -> task<
    std::conditional_t<(std::is_void_v<T> && ...), void, std::tuple<result_or_nothing<T>...>>> {
  const coroutine_place place = co_await this_coroutine{};
  join meeting(place, sizeof...(T));
  std::tuple<task<T>...> owned(std::move(tasks)...);
  std::tuple<result_slot<T>...> slots;
  constexpr auto indices = std::index_sequence_for<T...>{};
  auto children = make_children<T...>(meeting, owned, slots, indices);
  for (child& each : children) each.begin();
  co_await meeting;
  meeting.rethrow();
  if constexpr (!(std::is_void_v<T> && ...)) co_return take_results<T...>(slots, indices);
}

template <class T, class Allocator>
auto all_of(std::vector<task<T>, Allocator> tasks)
    -> task<std::conditional_t<std::is_void_v<T>, void, std::vector<result_or_nothing<T>>>> {
  const coroutine_place place = co_await this_coroutine{};
  join meeting(place, tasks.size());
  pooled_list<result_slot<T>> slots(tasks.size());
  pooled_list<child> children;
  children.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    children.push_back(run_child<T>(std::move(tasks[i]), meeting, slots[i]));
  }
  for (child& each : children) each.begin();
  co_await meeting;
  meeting.rethrow();
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> results;
    results.reserve(slots.size());
    for (auto& slot : slots) results.push_back(std::move(*slot));
    co_return results;
  }
}

}  // namespace detail

/// Runs all tasks at once on the engine of the awaiting coroutine and completes when all have
/// ended.
///
/// Tasks begin in the order given. Where one fails the others are stopped, all are waited for, and
/// the first failure is thrown. The result is a tuple in the order given (`std::monostate` for a
/// `task<>`), or nothing where every task is a `task<>`. A stop of the caller's scope stops all.
template <class... T>
auto when_all(task<T>... tasks) -> decltype(detail::all_of(std::move(tasks)...)) {
  return detail::all_of(std::move(tasks)...);
}
/// Of two, one of which is often complete already: no coroutine for both then.
inline task<> when_all(task<> one, task<> other) {
  if (one.ended_well_at_once()) return other;
  if (other.ended_well_at_once()) return one;
  return detail::all_of(std::move(one), std::move(other));
}

/// The same for any number of tasks of one kind; results in the order given.
template <class T, class Allocator>
auto when_all(std::vector<task<T>, Allocator> tasks) -> decltype(detail::all_of(std::move(tasks))) {
  if constexpr (std::is_void_v<T>) {
    const auto ended = [](const task<>& each) { return each.ended_well_at_once(); };
    // The last stays where all have ended: it is the result.
    while (tasks.size() > 1 && ended(tasks.back())) tasks.pop_back();
    if (tasks.size() > 1) std::erase_if(tasks, ended);
    if (tasks.size() == 1) return std::move(tasks.front());
  }
  return detail::all_of(std::move(tasks));
}

}  // namespace muster
