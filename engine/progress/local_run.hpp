#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "engine/coro/task.hpp"
#include "engine/progress/engine.hpp"

namespace muster {

/// A task that the thread which drives an engine begins there, to drive it to its end before it
/// does anything else: what a `future` is, without what other threads would need of it.
///
/// Its operations are not known to `engine::stop`: it has ended before anybody calls that.
class local_run {
public:
  /// Begins `work`, up to its first wait. `where` has no thread of its own.
  local_run(engine& where, task<> work) : frame_(run(where, std::move(work)).frame_) {}
  ~local_run() { frame_.destroy(); }
  local_run(const local_run&) = delete;
  local_run& operator=(const local_run&) = delete;

  bool ended() const noexcept { return frame_.done(); }
  /// It has ended. \throws what the task threw
  void take() const {
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
  }

private:
  struct frame {
    struct promise_type : detail::promise_base {
      explicit promise_type(engine& where, task<>&) noexcept { place = {&where, &where.scope()}; }
      frame get_return_object() noexcept {
        return {std::coroutine_handle<promise_type>::from_promise(*this)};
      }
      std::suspend_never initial_suspend() const noexcept { return {}; }
      std::suspend_always final_suspend() const noexcept { return {}; }
      void return_void() const noexcept {}
      void unhandled_exception() noexcept { failure = std::current_exception(); }

      std::exception_ptr failure;
    };
    std::coroutine_handle<promise_type> frame_;
  };

  static frame run(engine&, task<> work) { co_await std::move(work); }

  std::coroutine_handle<frame::promise_type> frame_;
};

}  // namespace muster
