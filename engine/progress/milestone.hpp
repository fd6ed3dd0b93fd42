#pragma once

#include <coroutine>

#include <muster/progress/waiter.hpp>

namespace muster {

/// Something that a coroutine waits for, one at a time, and another of its engine makes true.
class milestone final : public waiter {
public:
  void reach() noexcept { reached_ = true; }
  bool reached() const noexcept { return reached_; }

  bool ready() noexcept override { return reached_; }
  bool await_ready() const noexcept { return reached_; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(*self.promise().place.where, self);
  }
  void await_resume() { rethrow_interruption(); }
  // Nothing that another rank changes.
  const void* watched() const noexcept override { return this; }

private:
  bool reached_ = false;
};

}  // namespace muster
