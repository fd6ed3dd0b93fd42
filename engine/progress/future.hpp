#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>

namespace muster {
namespace detail {

/// The coroutine around a started task, shared by the future and the run itself: one frame.
template <class T>
class started {
public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;

  struct promise_type : promise_base, task_result<T> {
    explicit promise_type(engine& where, task<T>&) noexcept : scope(&where.scope()) {
      place = {&where, &scope};
    }
    started get_return_object() noexcept { return {handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(handle self) const noexcept {
        promise_type& promise = self.promise();
        engine& where = *promise.place.where;
        const std::coroutine_handle<> next = promise.end();
        if (where.has_own_thread()) promise.state.notify_all();
        promise.drop();
        where.operation_ended();
        return next;
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    bool done() const noexcept { return state.load(std::memory_order_acquire) == this; }

    /// Asks that `sleeper` be rung at the end. False where the end has come.
    bool ring_at_end(engine& sleeper) noexcept { return ask(tagged(sleeper)); }
    /// Asks that `next` be resumed at the end, on the engine's thread. False where it has come.
    bool resume_at_end(std::coroutine_handle<> next) noexcept { return ask(next.address()); }
    /// Takes `ring_at_end` back; afterwards nobody touches the engine any more.
    void ring_nobody(engine& sleeper) noexcept {
      void* asked = tagged(sleeper);
      // relaxed: nothing was handed over.
      if (state.compare_exchange_strong(asked, nullptr, std::memory_order_relaxed)) return;
      // acquire: the ringing is over; until then it is a moment.
      while (!rung.load(std::memory_order_acquire)) ::sched_yield();
    }

    /// Marks the end, and does what was asked for; the coroutine to resume, if that was it.
    std::coroutine_handle<> end() noexcept {
      // release: the result; acquire: the frame of whoever awaits it.
      void* const asked = state.exchange(this, std::memory_order_acq_rel);
      if (engine* const sleeper = untagged(asked)) {
        sleeper->ring();
        rung.store(true, std::memory_order_release);  // it may go from here on
        return std::noop_coroutine();
      }
      if (asked == nullptr) return std::noop_coroutine();
      return std::coroutine_handle<>::from_address(asked);
    }

    void drop() noexcept {
      // acq_rel: the last one must see the other's use of the frame before it destroys it.
      if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        handle::from_promise(*this).destroy();
      }
    }

    engine::posted entry;
    stop_scope scope;  // of this operation, in the engine's
    std::exception_ptr failure;
    // Null while running, or what was asked for: a coroutine's address, or a tagged engine's. This
    // promise's own address once the end has come.
    std::atomic<void*> state{nullptr};
    std::atomic<bool> rung{false};
    std::atomic<int> references{2};

  private:
    static constexpr std::uintptr_t tag = 1;
    static void* tagged(engine& sleeper) noexcept {
      return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&sleeper) | tag);
    }
    static engine* untagged(void* asked) noexcept {
      const auto address = reinterpret_cast<std::uintptr_t>(asked);
      return (address & tag) != 0 ? reinterpret_cast<engine*>(address & ~tag) : nullptr;
    }
    bool ask(void* what) noexcept {
      void* running = nullptr;
      // release: the awaiting frame is complete; acquire: the result, if the end came first.
      return state.compare_exchange_strong(running, what, std::memory_order_acq_rel,
                                           std::memory_order_acquire);
    }
  };

  handle frame;
};

template <class T>
started<T> run_started(engine& /*where*/, task<T> work) {
  // A local: it is gone when the end is told, which a parameter of this coroutine need not be.
  task<T> mine = std::move(work);
  // It may have been posted just before it, or the engine, was stopped. No deadline is asked for:
  // neither scope has one.
  const coroutine_place here = co_await this_coroutine{};
  if (here.scope->stopped(clock_time(0))) {
    throw error(errc::stopped, "start: stopped before the operation began");
  }
  co_return co_await std::move(mine);
}

}  // namespace detail

template <class T>
class future;

/// Begins `work` now on `where` (on this thread, up to its first wait; with `progress::thread`, on
/// the engine's thread) and returns the future of its result. The engine outlives the future.
template <class T>
future<T> start(engine& where, task<T> work);

/// The same on the engine that the task's own parameters name, as those of every collective do.
/// \throws error `errc::invalid_argument` where they name none.
template <class T>
future<T> start(task<T> work) {
  if (work.where() == nullptr) {
    throw error(errc::invalid_argument,
                "start: the task names no engine; expected start(engine, task)");
  }
  engine& where = *work.where();
  return start(where, std::move(work));
}

/// An object that can be given to `future::detach` to be kept: moved, and with it what it owns,
/// which stays where it is in memory.
template <class K>
concept keepable = !std::is_lvalue_reference_v<K> && std::move_constructible<K> &&
                   !std::is_trivially_copyable_v<K>;

/// The result to come of a started operation, which the future owns.
///
/// Move-only. One that is destroyed, or assigned to, while its operation is under way asks that to
/// stop, as `with_stop` does, and waits for its end, which is soon: nothing that it uses is touched
/// afterwards, whatever was thrown meanwhile. Stopped half-way, a collective breaks its team;
/// `detach` lets it run on instead. On the engine's own thread the future drives the engine while
/// it waits. Where time is virtual it does not wait for what does not end at once.
///
/// Apart from `progress::thread`, whose futures may be waited for on any thread, it belongs to the
/// thread of its engine.
///
/// A coroutine that awaits it goes on where it is itself driven, on whatever engine, and its own
/// stops and deadlines end the wait (not the operation; the future may be awaited again). One that
/// no engine of Muster drives goes on on the thread that drives the future's engine.
template <class T = void>
class [[nodiscard]] future {
public:
  using promise = typename detail::started<T>::promise_type;

  future() = default;
  future(future&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    future last = std::move(*this);
    promise_ = std::exchange(other.promise_, nullptr);
    return *this;
  }
  ~future() {
    if (promise_ == nullptr) return;
    if (!promise_->done()) stop_and_wait();
    promise_->drop();
  }

  bool valid() const noexcept { return promise_ != nullptr; }
  /// The engine that the operation runs on.
  engine& where() const noexcept { return *promise_->place.where; }

  /// Asks the operation to stop; any thread. How it ends, `wait` and `co_await` tell.
  void request_stop() noexcept { ask_to_stop(stop_scope::on_request); }

  /// Lets the operation run on, and empties the future. Its result is lost, and how it ended.
  ///
  /// \param kept what the operation uses and its caller owns, moved into: vectors that are its
  /// buffers, for example. They live until its end. Whatever else it uses has to live as long. Not
  /// arrays and other plain objects, whose elements would move.
  template <class... Kept>
    requires(keepable<Kept> && ...)
  void detach(Kept&&... kept) && {
    if constexpr (sizeof...(Kept) == 0) {
      std::exchange(promise_, nullptr)->drop();
    } else {
      engine& where = this->where();
      auto keeping = keep_until_end(std::tuple<Kept...>(std::move(kept)...), std::move(*this));
      start(where, std::move(keeping)).detach();
    }
  }

  /// Whether the operation has ended, after one look at the engine where the caller drives it.
  bool ready() {
    if (promise_->done()) return true;
    engine& where = this->where();
    if (!where.has_own_thread()) where.poll();
    return promise_->done();
  }

  /// The same without a look.
  bool ended() const noexcept { return promise_->done(); }

  /// Blocks until the operation has ended, driving the engine if it has no thread of its own, and
  /// returns its result or throws what it threw. The future is empty afterwards.
  T wait() {
    engine& where = this->where();
    if (!where.has_own_thread()) {
      where.drive_until([this] { return promise_->done(); });
    } else if (where.on_own_thread()) {
      throw error(errc::invalid_argument,
                  "future::wait: called on the engine's own thread, which it would block; "
                  "expected co_await");
    } else {
      block_until_end();
    }
    return take();
  }

  /// Calls `next(result)` (or `next()`) on the engine when the operation has ended, and returns the
  /// future of what it returns. A failure passes by `next` to that future. Empties this future.
  template <class Next>
  auto then(Next next) && {
    engine& where = this->where();
    return start(where, continue_with(std::move(*this), std::move(next)));
  }

  /// What `co_await` on a future waits with. One coroutine at a time may await a future.
  class end_wait final : public waiter {
  public:
    explicit end_wait(future& of) noexcept : of_(of) {}
    ~end_wait() { ring_nobody(); }

    bool ready() noexcept override { return of_.promise_->done(); }
    bool await_ready() noexcept { return ready(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      if constexpr (std::is_base_of_v<detail::promise_base, Promise>) {
        if (engine* const here = self.promise().place.where) return wait_on(*here, self);
      }
      return of_.promise_->resume_at_end(self);
    }
    T await_resume() {
      ring_nobody();
      rethrow_interruption();
      return of_.take();
    }

  private:
    template <class Promise>
    bool wait_on(engine& here, std::coroutine_handle<Promise> self) noexcept {
      // An engine is awake when its own operation ends; another one may be asleep.
      if (&here != &of_.where()) {
        if (!of_.promise_->ring_at_end(here)) return false;
        rung_ = &here;
      }
      suspend(here, self);
      return true;
    }

    void ring_nobody() noexcept {
      if (rung_ != nullptr) of_.promise_->ring_nobody(*std::exchange(rung_, nullptr));
    }

    future& of_;
    engine* rung_ = nullptr;  // at the end
  };
  end_wait operator co_await() noexcept { return end_wait(*this); }

private:
  template <class U>
  friend future<U> start(engine&, task<U>);
  explicit future(promise& shared) noexcept : promise_(&shared) {}

  void block_until_end() noexcept {
    void* seen = nullptr;
    while ((seen = promise_->state.load(std::memory_order_acquire)) != promise_) {
      promise_->state.wait(seen, std::memory_order_acquire);
    }
  }

  void ask_to_stop(const char* why) noexcept {
    promise_->scope.request_stop(why);
    where().ring();
  }

  void stop_and_wait() noexcept {
    ask_to_stop("stopped, since its future was destroyed");
    engine& where = this->where();
    if (where.has_own_thread() && !where.on_own_thread()) return block_until_end();
    const auto is_over = [this] { return promise_->done(); };
    where.resume_interrupted_until(is_over);
    if (!where.has_virtual_clock()) where.drive_until(is_over);
  }

  /// What is `kept` is a parameter: it goes after everything in the coroutine.
  template <class Kept>
  static task<> keep_until_end(Kept kept, future running) {
    future mine = std::move(running);
    try {
      co_await mine;
    } catch (...) {  // nobody asks
    }
    static_cast<void>(kept);
  }

  T take() {
    future last = std::move(*this);  // the frame goes with it, once the result is out
    if (last.promise_->failure) std::rethrow_exception(last.promise_->failure);
    return last.promise_->take();
  }

  template <class Next>
  static auto continue_with(future first, Next next)
      -> task<typename std::conditional_t<std::is_void_v<T>, std::invoke_result<Next>,
                                          std::invoke_result<Next, T>>::type> {
    if constexpr (std::is_void_v<T>) {
      co_await first;
      co_return next();
    } else {
      T result = co_await first;
      co_return next(std::move(result));
    }
  }

  promise* promise_ = nullptr;
};

template <class T>
future<T> start(engine& where, task<T> work) {
  auto& promise = detail::run_started(where, std::move(work)).frame.promise();
  where.operation_began();
  future<T> result(promise);
  const auto frame = detail::started<T>::handle::from_promise(promise);
  if (where.has_own_thread() && !where.on_own_thread()) {
    promise.entry.resume = frame;
    where.post(promise.entry);
  } else {
    frame.resume();
  }
  return result;
}

}  // namespace muster
