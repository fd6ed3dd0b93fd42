#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <muster/asio/driver.hpp>
#include <muster/base/error.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/within.hpp>
#include <muster/run/team.hpp>

namespace muster::asio {
namespace detail {

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

/// One awaited call: from its initiation to its completion handler. `Begin` gives the task.
template <class Begin, class Handler>
class operation final : public std::enable_shared_from_this<operation<Begin, Handler>> {
  using task_type = std::invoke_result_t<Begin&>;
  using value = typename task_type::value_type;
  using executor = net::associated_executor_t<Handler, net::io_context::executor_type>;

public:
  operation(std::shared_ptr<driver> by, Begin begin, Handler handler)
      : by_(std::move(by)),
        begin_(std::move(begin)),
        work_(net::get_associated_executor(handler, by_->context().get_executor())),
        handler_(std::move(handler)) {}

  /// Where the handler can be canceled, listens.
  void listen() {
    auto slot = net::get_associated_cancellation_slot(*handler_);
    if (!slot.is_connected()) return;
    stop_.emplace();
    slot.assign([self = this->weak_from_this()](net::cancellation_type type) {
      if (const auto here = self.lock()) here->cancel(type);
    });
  }

  void begin_soon() {
    net::dispatch(by_->strand(), [self = this->shared_from_this()] { self->begin(); });
  }

private:
  /// On the strand. Takes the call's place in the team's order.
  void begin() {
    has_begun_ = true;
    by_->operation_begins();
    const bool is_stopped = by_->is_closed() || by_->engine().scope().stopped(clock_time(0));
    if (is_stopped || is_canceled_.load(std::memory_order_relaxed)) {  // the strand passes it on
      return complete(errc::stopped, {});
    }
    bool has_ended = false;
    try {
      future<> running = start(by_->engine(), run(this->shared_from_this()));
      has_ended = running.ended();
      std::move(running).detach();     // the handler is told
    } catch (const std::bad_alloc&) {  // before it has begun
      return complete(errc::resource, {});
    }
    if (!has_ended) by_->wake();
  }

  static task<> run(std::shared_ptr<operation> self) {
    std::error_code why;
    typename completion<value>::result got{};
    try {
      task_type call = self->begin_();
      if (self->stop_) call = with_stop(self->stop_->get_token(), std::move(call));
      if constexpr (std::is_void_v<value>) {
        co_await std::move(call);
      } else {
        got.emplace(co_await std::move(call));
      }
    } catch (const std::system_error& failure) {
      why = failure.code();
    } catch (...) {  // as from a reduction of the program's own
      why = errc::resource;
    }
    self->complete(why, std::move(got));
  }

  /// On the handler's executor. Before the call has its place, whatever is asked for takes it back;
  /// afterwards it can end only with its team broken, for which `terminal` has to be asked.
  void cancel(net::cancellation_type type) {
    is_canceled_.store(true, std::memory_order_relaxed);  // the strand passes it on
    net::dispatch(by_->strand(), [self = this->shared_from_this(), type] {
      if (!self->handler_ || !self->has_begun_) return;
      const bool is_terminal =
          (type & net::cancellation_type::terminal) != net::cancellation_type::none;
      if (!is_terminal && self->has_place()) return;
      self->stop_->request_stop();
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

  void complete(std::error_code why, typename completion<value>::result got) {
    by_->operation_ended();
    Handler handler = std::move(*handler_);
    handler_.reset();
    const error_code code = why ? error_code(why) : error_code();
    if constexpr (std::is_void_v<value>) {
      net::post(work_.get_executor(), net::append(std::move(handler), code));
    } else {
      // A value that nothing was received into is as it is made.
      net::post(work_.get_executor(),
                net::append(std::move(handler), code, got ? std::move(*got) : value{}));
    }
    work_.reset();
  }

  std::shared_ptr<driver> by_;
  Begin begin_;
  net::executor_work_guard<executor> work_;
  std::optional<Handler> handler_;
  std::optional<std::stop_source> stop_;  // where it can be canceled
  std::atomic<bool> is_canceled_{false};
  bool has_begun_ = false;  // on the strand
};

/// What an initiating function does once Asio has made a handler of the token.
struct initiation {
  template <class Handler, class Begin>
  void operator()(Handler&& handler, std::shared_ptr<driver> by, Begin begin) const {
    using type = operation<Begin, std::decay_t<Handler>>;
    // Not by the handler's allocator, whose memory has to be back before the handler is called:
    // that is for posting it.
    const auto made =
        std::make_shared<type>(std::move(by), std::move(begin), std::forward<Handler>(handler));
    made->listen();
    made->begin_soon();
  }
};

}  // namespace detail
}  // namespace muster::asio
