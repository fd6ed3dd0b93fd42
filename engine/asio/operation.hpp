#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/associated_immediate_executor.hpp>
#endif

#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <muster/asio/call.hpp>
#include <muster/asio/driver.hpp>

namespace muster::asio::detail {

/// Whom a call's end is told: a completion handler, on its associated executor.
template <class Handler>
class completion_handler {
  using executor = net::associated_executor_t<Handler, net::io_context::executor_type>;

public:
  completion_handler(const driver& by, Handler handler)
      : work_(net::get_associated_executor(handler, by.context().get_executor())),
        handler_(std::move(handler)) {}

  auto cancellation_slot() const noexcept {
    return net::get_associated_cancellation_slot(handler_);
  }

  /// Never inside the function that initiates.
  template <class T>
  void post(outcome<T> how) && {
    net::post(work_.get_executor(), std::move(*this).with(std::move(how)));
  }

  /// Of a call that has ended inside the function that initiates it.
  template <class T>
  void post_at_once(outcome<T> how) && {
#if BOOST_VERSION >= 108200
    const auto immediate = net::get_associated_immediate_executor(handler_, work_.get_executor());
    net::dispatch(immediate, std::move(*this).with(std::move(how)));
#else
    std::move(*this).post(std::move(how));
#endif
  }

private:
  template <class T>
  auto with(outcome<T> how) && {
    if constexpr (std::is_void_v<T>) {
      return net::append(std::move(handler_), how.why);
    } else {
      return net::append(std::move(handler_), how.why, how.take());
    }
  }

  net::executor_work_guard<executor> work_;
  Handler handler_;
};

/// A call with a completion handler.
template <class Begin, class Handler>
class operation final : public call<Begin> {
  using typename call<Begin>::value;

public:
  operation(std::shared_ptr<driver> by, Begin begin, Handler handler)
      : call<Begin>(std::move(by), std::move(begin)),
        handler_(std::in_place, this->by(), std::move(handler)) {}

  void initiate() {
    if (auto slot = handler_->cancellation_slot(); slot.is_connected()) this->listen(slot);
    const auto self = this->shared_from_this();
    this->by().at_engine([self, this] { this->begin(); });
    is_initiating_ = false;
  }

private:
  void tell(outcome<value> how) override {
    completion_handler<Handler> handler = std::move(*handler_);
    handler_.reset();
    if (initiator_ == std::this_thread::get_id() && is_initiating_) {
      std::move(handler).post_at_once(std::move(how));
    } else {
      std::move(handler).post(std::move(how));
    }
  }

  std::optional<completion_handler<Handler>> handler_;
  const std::thread::id initiator_ = std::this_thread::get_id();
  bool is_initiating_ = true;  // of that thread alone
};

/// What an initiating function does once Asio has made a handler of the token.
struct initiation {
  template <class Handler, class Begin>
  void operator()(Handler&& handler, std::shared_ptr<driver> by, Begin begin) const {
    using type = operation<Begin, std::decay_t<Handler>>;
    // Not by the handler's allocator, whose memory has to be back before the handler is called:
    // that is for posting it.
    std::make_shared<type>(std::move(by), std::move(begin), std::forward<Handler>(handler))
        ->initiate();
  }
};

}  // namespace muster::asio::detail
