#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/within.hpp>

namespace muster {

/// Operations that begin at any time and end before what they use: the shape of C++26's
/// counting_scope.
///
///     muster::scope all(team.engine());
///     all.spawn(muster::allreduce(team, gradients, muster::sum));
///     all.spawn(muster::barrier(team));
///     co_await all.join();
///
/// It belongs to the thread of its engine; with `progress::thread`, `spawn` and `request_stop` may
/// be called from any. One that is destroyed while something is under way stops that and waits for
/// its end, as a `future` does: what was declared before it may be used by what it runs. Where time
/// is virtual nobody may block: there it is joined first.
class scope {
public:
  /// \param where outlives this
  explicit scope(muster::engine& where) noexcept : engine_(where), stop_(&where.scope()) {}
  ~scope();
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  muster::engine& engine() const noexcept { return engine_; }

  /// Begins `work` now, as `start` does; its result is lost. The first that fails is remembered
  /// for `join`; the others go on.
  template <class T>
  void spawn(task<T> work) {
    counted one(*this);
    auto whole = run(std::move(one), *this, std::move(work));
    start(engine_, std::move(whole)).detach();
  }

  /// Completes when all that was spawned has ended, also what is spawned meanwhile; more may be
  /// spawned afterwards. A stop or deadline of the waiting coroutine ends the wait alone.
  /// \throws what the first of them that failed ended with, once
  task<> join();

  /// Asks all that is under way, and what is spawned from now on, to stop: see `with_stop`. Any
  /// thread.
  void request_stop() noexcept {
    stop_.request_stop();
    engine_.ring();
  }

  /// How many have not ended.
  std::size_t size() const noexcept { return pending_.load(std::memory_order_acquire); }

private:
  class end_wait;

  /// Counts one that is pending until it goes: with the frame of its coroutine, begun or not.
  class counted {
  public:
    // relaxed: nothing is handed over.
    explicit counted(scope& in) noexcept : in_(&in) {
      in.pending_.fetch_add(1, std::memory_order_relaxed);
    }
    counted(counted&& other) noexcept : in_(std::exchange(other.in_, nullptr)) {}
    ~counted() {
      if (in_ != nullptr) in_->end_one();
    }
    counted& operator=(const counted&) = delete;

  private:
    scope* in_;
  };

  template <class T>
  static task<> run(counted, scope& in, task<T> work) {
    co_await detail::enter_scope{&in.stop_};
    try {
      // It may have been asked to stop before it began; its own deadline it has not.
      if (in.stop_.stopped(clock_time(0))) {
        throw error(errc::stopped, "scope: stopped before the operation began");
      }
      task<T> mine = std::move(work);
      co_await std::move(mine);
    } catch (...) {
      in.keep(std::current_exception());
    }
  }

  void keep(std::exception_ptr failure) noexcept {
    if (!failure_) failure_ = std::move(failure);
  }
  void end_one() noexcept {
    // release: what it did is seen by whoever sees none pending.
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_all();
  }

  muster::engine& engine_;
  stop_scope stop_;
  std::atomic<std::size_t> pending_{0};
  std::exception_ptr failure_;  // on the engine's thread
};

}  // namespace muster
