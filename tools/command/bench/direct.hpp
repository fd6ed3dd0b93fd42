// A coroutine for libraries whose calls block: it runs to its end when it is called, and awaiting
// a finished call costs nothing. It lets one measuring loop serve blocking and awaited libraries.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace muster::bench {

/// What a blocking call returns for co_await: it is done, and the compiler sees that it is.
using finished = std::suspend_never;

template <class T>
class direct {
public:
  struct promise_type {
    T value{};
    direct get_return_object() { return direct(handle::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() noexcept { std::terminate(); }
  };

  direct(direct&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  direct& operator=(direct&&) = delete;
  ~direct() {
    if (coroutine_) coroutine_.destroy();
  }

  T result() && { return std::move(coroutine_.promise().value); }

private:
  using handle = std::coroutine_handle<promise_type>;
  explicit direct(handle coroutine) : coroutine_(coroutine) {}
  handle coroutine_;
};

}  // namespace muster::bench
