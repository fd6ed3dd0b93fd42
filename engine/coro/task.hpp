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

/// One rank's part of an operation, which a `task<>` stands for: what it does without a coroutine,
/// and what goes before and after the coroutine that it has where it must wait.
class bracket {
public:
  /// Begins and does all of it where nothing has to be waited for: then what is returned is null,
  /// and `failure` says how it ended. Else it is the coroutine of a `task<>` for the rest, around
  /// which this is, and which has not begun.
  virtual std::coroutine_handle<> attempt() noexcept = 0;
  /// Before the coroutine begins, at `place`. False where it has to wait: then it is resumed later.
  virtual bool begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept = 0;
  /// In the coroutine, before anything else; what it throws the coroutine ends with.
  virtual void enter() = 0;
  /// When the coroutine has ended, well or with `failure`.
  virtual void end(const std::exception_ptr& failure) noexcept = 0;
  /// When its frame, or the task that has none, is gone. Nobody touches the bracket after that.
  virtual void release() noexcept = 0;

  muster::engine& where() const noexcept { return where_; }
  bool ended_at_once() const noexcept { return ended_at_once_; }
  /// Of one that ended at once: why not well, or null.
  std::exception_ptr& failure() noexcept { return failure_; }

protected:
  explicit bracket(muster::engine& where) noexcept : where_(where) {}
  ~bracket() = default;

  bool ended_at_once_ = false;
  std::exception_ptr failure_;

private:
  muster::engine& where_;
};

/// A coroutine that starts when it is awaited and completes with a `T` or an exception; or a
/// rank's part of an operation, which becomes a coroutine only where it has to wait.
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
  /// The part of an operation, which has not begun.
  explicit task(bracket& part) noexcept
    requires std::is_void_v<T>
      : part_(&part) {}
  task(task&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)), part_(std::exchange(other.part_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    std::swap(part_, other.part_);
    return *this;
  }
  ~task() {
    if (frame_) {
      frame_.destroy();
    } else if (part_ != nullptr) {
      part_->release();
    }
  }

  explicit operator bool() const noexcept { return frame_ || part_ != nullptr; }
  /// The engine that one of the task's parameters named, or null.
  muster::engine* where() const noexcept {
    return part_ != nullptr ? &part_->where() : frame_.promise().place.where;
  }

  struct awaiter {
    task& mine;

    bool await_ready() const noexcept { return false; }

    // The child runs inside this call as far as it gets. Where it gets to its end there is no
    // suspension at all, and no tail call to depend on: compilers do not promise one.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      if (mine.part_ != nullptr) {
        if (mine.ends_at_once()) return false;
      }
      auto& promise = mine.frame_.promise();
      detail::hand_down(promise.place, parent);
      if (promise.around != nullptr && !promise.around->begin(promise.place, mine.frame_)) {
        promise.parent = parent;
        return true;
      }
      mine.frame_.resume();
      if (mine.frame_.done()) return false;
      promise.parent = parent;
      return true;
    }

    T await_resume() { return mine.take(); }
  };

  awaiter operator co_await() && noexcept { return awaiter{*this}; }

  /// Begins it where nothing awaits it: whoever has the task looks whether it is `done`.
  void begin(const coroutine_place& at) noexcept {
    if (part_ != nullptr && ends_at_once()) return;
    promise_type& promise = frame_.promise();
    promise.place = at;
    if (promise.around == nullptr || promise.around->begin(at, frame_)) frame_.resume();
  }
  bool done() const noexcept { return part_ != nullptr ? part_->ended_at_once() : frame_.done(); }
  /// Whether it is a part that was begun where it was made, and ended well.
  bool ended_well_at_once() const noexcept {
    return part_ != nullptr && part_->ended_at_once() && !part_->failure();
  }
  /// What it completed with, of one that was begun here and is done. \throws what it threw
  T take() {
    std::exception_ptr& failure = part_ != nullptr ? part_->failure() : frame_.promise().failure;
    if (failure) [[unlikely]] {
      std::rethrow_exception(std::move(failure));
    }
    if constexpr (!std::is_void_v<T>) return frame_.promise().take();
  }

  /// Puts a bracket around the coroutine, which has not begun and from now on is the bracket's.
  static std::coroutine_handle<> surround(task coroutine, bracket& with) noexcept {
    coroutine.frame_.promise().around = &with;
    return std::exchange(coroutine.frame_, nullptr);
  }
  /// The task again of such a coroutine, as an attempt of its bracket returned it.
  static task of_begun(std::coroutine_handle<> coroutine) noexcept {
    return task(handle::from_address(coroutine.address()));
  }
  /// The bracket around it, or null.
  bracket* surrounded_by() const noexcept {
    return part_ != nullptr ? part_ : frame_.promise().around;
  }

private:
  explicit task(handle frame) noexcept : frame_(frame) {}

  /// Of a part of an operation, which begins: if not, the coroutine is there.
  bool ends_at_once() noexcept {
    const std::coroutine_handle<> rest = part_->attempt();
    if (!rest) return true;
    frame_ = handle::from_address(rest.address());
    part_ = nullptr;  // the frame has it now
    return false;
  }

  handle frame_ = nullptr;
  bracket* part_ = nullptr;  // while, and where, it has no frame
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
