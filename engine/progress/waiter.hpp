#pragma once

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>

namespace muster {

class engine;
class waiter_list;

/// A suspended coroutine's note to its engine: what to look at, whom to resume. It lives in the
/// frame of the coroutine that waits, or beside it, so waiting allocates nothing; the engine only
/// links it.
class waiter {
public:
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Whether what is waited for has happened. Asked at every poll: cheap. It may remember how
  /// far it has looked, but changes nothing that others see.
  virtual bool ready() noexcept = 0;

  /// Whether the wait must end for another reason (stop, deadline, failure of a peer). Asked only
  /// when nothing moves. If so, the reason is kept and thrown in the coroutine. `thorough` asks for
  /// what is too costly to look at often, and always comes before the engine sleeps.
  virtual bool interrupted(clock_time now, bool thorough) noexcept;

  /// Before the engine sleeps: asks whoever can make it ready to wake the engine then.
  virtual void watch() noexcept {}
  /// After that, once `ready` was false again: whether nobody else has to be asked, since whoever
  /// was asked has come meanwhile.
  virtual bool still_watches() const noexcept { return true; }

  const stop_scope* scope() const noexcept { return scope_; }
  /// Who waits.
  std::coroutine_handle<> resumed() const noexcept { return resume_; }

  /// The one thing in memory that has to change before it can be ready; null where it may be
  /// anything. For whoever knows what has changed, and would rather not ask everybody.
  virtual const void* watched() const noexcept { return nullptr; }

  /// Whether nobody that shares this core is waited for, so that it need not be given up at once.
  virtual bool awaits_other_cores_only() const noexcept { return false; }

  /// What is waited for, for messages.
  virtual std::string describe() const { return "the end of another operation"; }

protected:
  waiter() = default;
  ~waiter() {
    if (list_ != nullptr) withdraw();
  }

  /// Suspends `self` until ready or interrupted.
  template <class Promise>
  void suspend(engine& where, std::coroutine_handle<Promise> self) noexcept {
    if constexpr (std::is_base_of_v<detail::promise_base, Promise>) {
      scope_ = self.promise().place.scope;
    }
    link(where, self);
  }
  void suspend(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
    scope_ = place.scope;
    link(*place.where, self);
  }
  /// The same, but `ready` is not asked before somebody calls `be_asked`: for one that cannot be
  /// ready before another waiter of its engine is.
  void suspend_behind_another(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
    scope_ = place.scope;
    link_behind_another(*place.where, self);
  }
  /// From now on it is asked. \param where it is suspended
  void be_asked(engine& where) noexcept;

  void interrupt(std::exception_ptr why) noexcept { failure_ = std::move(why); }
  /// Interrupts if the scope says so, with an error that begins with `prefix()` and names `rank`.
  template <class Prefix>
  bool interrupted_by_scope(clock_time now, Prefix prefix, std::size_t rank) {
    if (scope_ == nullptr) return false;
    const std::optional<errc> why = scope_->stopped(now);
    if (!why) return false;
    const char* words = *why == errc::stopped ? scope_->words() : "passed its deadline";
    interrupt(std::make_exception_ptr(error(*why, prefix() + words, rank)));
    return true;
  }
  /// To be called on resumption: throws where the wait was interrupted.
  void rethrow_interruption() {
    if (failure_) [[unlikely]] {
      std::rethrow_exception(std::move(failure_));
    }
  }

private:
  friend class engine;
  friend class waiter_list;
  void link(engine& where, std::coroutine_handle<> self) noexcept;
  void link_behind_another(engine& where, std::coroutine_handle<> self) noexcept;
  void withdraw() noexcept;

  waiter_list* list_ = nullptr;  // null while not linked
  waiter* next_ = nullptr;
  waiter* previous_ = nullptr;
  std::coroutine_handle<> resume_;
  const stop_scope* scope_ = nullptr;
  std::exception_ptr failure_;
};

}  // namespace muster
