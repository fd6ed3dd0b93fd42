#pragma once

#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <muster/asio/driver.hpp>
#include <muster/base/error.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/future.hpp>
#include <muster/run/team.hpp>

namespace muster::asio::detail {

namespace net = boost::asio;
using boost::system::error_code;

/// What a completion handler is called with, beside the error: nothing, or a `T`.
template <class T>
struct completion {
  using signature = void(error_code, T);
  using result = std::optional<T>;
};
template <>
struct completion<void> {
  using signature = void(error_code);
  using result = std::monostate;
};

/// How a call ended.
template <class T>
struct outcome {
  error_code why;
  typename completion<T>::result got;

  /// What was received; where nothing was, a value as it is made.
  T take()
    requires(!std::is_void_v<T>)
  {
    if (got) return std::move(*got);
    return T{};
  }
};

/// The one of Asio's that drives the team's engine.
/// \throws error `errc::invalid_argument` where there is none
inline std::shared_ptr<driver> driver_of(const team& on) {
  auto* const by = dynamic_cast<driver*>(on.engine().driven_from_outside());
  if (by == nullptr) {
    throw error(errc::invalid_argument,
                "muster::asio: no io_context drives the team's engine; expected the team of a "
                "muster::asio::world, or one made of that");
  }
  return by->shared_from_this();
}

/// One call, from its initiation to its end. `Begin` gives the task.
template <class Begin>
class call : public std::enable_shared_from_this<call<Begin>> {
  using task_type = std::invoke_result_t<Begin&>;

public:
  using value = typename task_type::value_type;

  call(std::shared_ptr<driver> by, Begin begin) : by_(std::move(by)), begin_(std::move(begin)) {}
  call(const call&) = delete;
  call& operator=(const call&) = delete;

protected:
  virtual ~call() = default;

  /// Tells whoever waits. At the engine, once.
  virtual void tell(outcome<value> how) = 0;

  const driver& by() const noexcept { return *by_; }
  driver& by() noexcept { return *by_; }

  /// Does what is asked for by `slot`, which is connected.
  template <class Slot>
  void listen(Slot slot) {
    slot.assign([self = this->weak_from_this()](net::cancellation_type type) {
      if (const auto here = self.lock()) here->cancel(type);
    });
  }

  /// At the engine.
  bool has_begun() const noexcept { return has_begun_; }
  /// At the engine. Takes the call's place in the team's order.
  void begin() {
    has_begun_ = true;
    by_->operation_begins();
    const bool is_stopped = by_->is_closed() || by_->engine().scope().stopped(clock_time(0));
    // relaxed: where the one is not seen yet, `cancel` comes to the engine after this.
    if (is_stopped || is_canceled_.load(std::memory_order_relaxed)) {
      return end({.why = errc::stopped, .got = {}});
    }
    try {
      running_ = start(by_->engine(), begin_());
      if (running_.ended()) return end(taken());
      end_later(this->shared_from_this());
    } catch (...) {
      running_ = {};  // ends it
      return end({.why = code_of(std::current_exception()), .got = {}});
    }
    if (is_to_stop_) running_.request_stop();
    by_->wake();
  }

private:
  /// A coroutine for which nobody waits.
  struct unattended {
    struct promise_type {
      unattended get_return_object() const noexcept { return {}; }
      std::suspend_never initial_suspend() const noexcept { return {}; }
      std::suspend_never final_suspend() const noexcept { return {}; }
      void return_void() const noexcept {}
      [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    };
  };

  static unattended end_later(std::shared_ptr<call> self) {
    outcome<value> how;
    try {
      if constexpr (std::is_void_v<value>) {
        co_await self->running_;
      } else {
        how.got.emplace(co_await self->running_);
      }
    } catch (...) {
      how.why = code_of(std::current_exception());
    }
    self->end(std::move(how));
  }

  /// Of what has ended.
  outcome<value> taken() {
    outcome<value> how;
    try {
      if constexpr (std::is_void_v<value>) {
        running_.wait();
      } else {
        how.got.emplace(running_.wait());
      }
    } catch (...) {
      how.why = code_of(std::current_exception());
    }
    return how;
  }

  static error_code code_of(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::system_error& known) {
      return known.code();
    } catch (...) {  // as from a reduction of the program's own
      return std::error_code(errc::resource);
    }
  }

  void end(outcome<value> how) {
    by_->operation_ended();
    has_ended_ = true;
    tell(std::move(how));
  }

  /// Before the call has its place, whatever is asked for takes it back; afterwards it can end only
  /// with its team broken, for which `terminal` has to be asked.
  void cancel(net::cancellation_type type) {
    is_canceled_.store(true, std::memory_order_relaxed);
    by_->at_engine([self = this->shared_from_this(), type] {
      if (self->has_ended_ || !self->has_begun_) return;
      const bool is_terminal =
          (type & net::cancellation_type::terminal) != net::cancellation_type::none;
      if (!is_terminal && self->has_place()) return;
      self->is_to_stop_ = true;
      if (!self->running_.valid()) return;  // it is just beginning
      self->running_.request_stop();
      self->by_->wake();
    });
  }

  /// Whether the call has its place in the team's order. One that waits in a sequencer says so
  /// itself.
  bool has_place() const noexcept {
    if constexpr (requires { begin_.has_place; }) {
      return begin_.has_place;
    } else {
      return true;
    }
  }

  std::shared_ptr<driver> by_;
  Begin begin_;
  std::atomic<bool> is_canceled_{false};
  future<value> running_;  // at the engine, as what follows
  bool has_begun_ = false;
  bool is_to_stop_ = false;
  bool has_ended_ = false;
};

}  // namespace muster::asio::detail
