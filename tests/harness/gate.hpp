#pragma once

#include <atomic>
#include <coroutine>
#include <stdexcept>

#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/waiter.hpp>

namespace muster::testing {

/// Something to wait for that a test opens when it likes, from any thread.
class gate {
public:
  class pass final : public waiter {
  public:
    explicit pass(const gate& at) noexcept : at_(at) {}
    bool ready() noexcept override { return at_.is_open(); }
    bool await_ready() noexcept { return ready(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      suspend(*self.promise().place.where, self);
    }
    void await_resume() { rethrow_interruption(); }

  private:
    const gate& at_;
  };

  /// Awaited: waits until the gate is open.
  pass passed() const noexcept { return pass(*this); }
  bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
  void open() noexcept { open_.store(true, std::memory_order_release); }
  /// Opens it and wakes the engine that may sleep before it.
  void open(engine& waiting) noexcept {
    open();
    waiting.ring();
  }

private:
  std::atomic<bool> open_{false};
};

inline task<int> give_after(const gate& at, int value) {
  co_await at.passed();
  co_return value;
}
inline task<> fail_after(const gate& at) {
  co_await at.passed();
  throw std::runtime_error("as asked");
}

}  // namespace muster::testing
