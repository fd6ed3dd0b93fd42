#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <muster/coro/frame_pool.hpp>

namespace muster {

class engine;
class stop_scope;

/// What every coroutine of Muster knows about where it runs: its engine and its cancellation scope.
/// Both are handed down from the awaiting coroutine; the engine also comes from a parameter that
/// has one (`task<> work(team& t)`), so that `start` knows where to begin.
struct coroutine_place {
  engine* where = nullptr;
  const stop_scope* scope = nullptr;
};

namespace detail {

template <class T>
concept has_engine = requires(T& t) {
  { t.engine() } -> std::convertible_to<muster::engine&>;
};

/// Shared by the promises of all coroutine kinds: pooled frames and the coroutine's place.
struct promise_base {
  promise_base() = default;
  template <class... Parameters>
    requires(has_engine<Parameters> || ...)
  explicit promise_base(Parameters&... parameters) {
    (look_for_engine(parameters), ...);
  }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* frame) noexcept { frame_pool::release(frame); }

  coroutine_place place;

private:
  template <class Parameter>
  void look_for_engine(Parameter& parameter) {
    if constexpr (has_engine<Parameter>) place.where = &parameter.engine();
  }
};

/// Tells a child coroutine where its parent runs.
template <class Promise>
void hand_down(coroutine_place& child, std::coroutine_handle<Promise> parent) noexcept {
  if constexpr (std::is_base_of_v<promise_base, Promise>) {
    const coroutine_place& place = parent.promise().place;
    if (place.where != nullptr) child.where = place.where;
    child.scope = place.scope;
  }
}

template <class T>
struct task_result {
  std::optional<T> value;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
};

template <>
struct task_result<void> {
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

/// What goes before and after a coroutine that is one rank's part of an operation, told by its
/// task.
class bracket {
public:
  /// Before the coroutine begins, at `place`. False where it has to wait: then it is resumed later.
  virtual bool begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept = 0;
  /// In the coroutine, before anything else; what it throws the coroutine ends with.
  virtual void enter() = 0;
  /// When the coroutine has ended, well or with `failure`.
  virtual void end(const std::exception_ptr& failure) noexcept = 0;
  /// When its frame is gone. The task does not touch the bracket after that.
  virtual void release() noexcept = 0;

protected:
  ~bracket() = default;
};

/// A coroutine that starts when it is awaited and completes with a `T` or an exception.
///
/// Move-only; await it at most once. It completes on the thread that drives its engine. Destroying
/// a task that was never awaited runs nothing; destroying one that is suspended destroys its frame
/// and, with it, whatever it awaits. Frames come from the engine's `frame_pool`.
template <class T = void>
class [[nodiscard]] task {
public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;
  using value_type = T;

  task() = default;
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }
  /// The engine that one of the task's parameters named, or null.
  muster::engine* where() const noexcept { return frame_.promise().place.where; }

  struct awaiter {
    handle child;

    bool await_ready() const noexcept { return false; }

    // The child runs inside this call as far as it gets. Where it gets to its end there is no
    // suspension at all, and no tail call to depend on: compilers do not promise one.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      auto& promise = child.promise();
      detail::hand_down(promise.place, parent);
      if (promise.around != nullptr && !promise.around->begin(promise.place, child)) {
        promise.parent = parent;
        return true;
      }
      child.resume();
      if (child.done()) return false;
      promise.parent = parent;
      return true;
    }

    T await_resume() {
      auto& promise = child.promise();
      if (promise.failure) std::rethrow_exception(std::move(promise.failure));
      return promise.take();
    }
  };

  awaiter operator co_await() && noexcept { return awaiter{frame_}; }

  /// Begins it where nothing awaits it: whoever has the task looks whether it is `done`.
  void begin(const coroutine_place& at) {
    promise_type& promise = frame_.promise();
    promise.place = at;
    if (promise.around == nullptr || promise.around->begin(at, frame_)) frame_.resume();
  }
  bool done() const noexcept { return frame_.done(); }
  /// What it completed with, of one that was begun here and is done. \throws what it threw
  T take() { return awaiter{frame_}.await_resume(); }

  /// Puts a bracket around the coroutine, which has not begun.
  void surround(bracket& with) noexcept { frame_.promise().around = &with; }
  /// The bracket around it, or null.
  bracket* surrounded_by() const noexcept { return frame_.promise().around; }

private:
  explicit task(handle frame) noexcept : frame_(frame) {}
  handle frame_ = nullptr;
};

template <class T>
struct task<T>::promise_type : detail::promise_base, detail::task_result<T> {
  using detail::promise_base::promise_base;
  ~promise_type() {
    if (around != nullptr) around->release();
  }

  struct initial_awaiter {
    promise_type& self;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const {
      if (self.around != nullptr) self.around->enter();
    }
  };
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(handle self) const noexcept {
      promise_type& promise = self.promise();
      if (promise.around != nullptr) promise.around->end(promise.failure);
      std::coroutine_handle<> parent = promise.parent;
      return parent ? parent : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  task get_return_object() noexcept { return task(handle::from_promise(*this)); }
  initial_awaiter initial_suspend() noexcept { return {*this}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }

  std::coroutine_handle<> parent;
  bracket* around = nullptr;
  std::exception_ptr failure;
};

/// The cancellation scope and engine of the coroutine that awaits it.
struct this_coroutine {
  coroutine_place place;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    detail::hand_down(place, self);
    return false;
  }
  coroutine_place await_resume() const noexcept { return place; }
};

}  // namespace muster
