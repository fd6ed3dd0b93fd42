#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <muster/asio/call.hpp>
#include <muster/asio/operation.hpp>

namespace muster::asio::detail {

/// A call that a coroutine of Asio awaits. Where it ends at once the coroutine goes on, without a
/// turn of the context, which takes several times as long as a short call.
template <class Begin>
class awaited_call final : public call<Begin> {
public:
  using typename call<Begin>::value;

  using call<Begin>::call;

  /// How it ended; nothing where it goes on, or has not begun.
  std::optional<outcome<value>> try_now() {
    std::optional<outcome<value>> how;
    this->by().at_engine_now([this, &how] {
      begin_once();
      how = std::move(how_);
    });
    return how;
  }

  /// After `try_now` without an outcome: begins it if need be, and calls `handler` at its end.
  template <class Handler>
  void complete_with(Handler handler) {
    completion_handler<Handler> told(this->by(), std::move(handler));
    if (auto slot = told.cancellation_slot(); slot.is_connected()) this->listen(slot);
    const auto self = this->shared_from_this();
    this->by().at_engine([self, this, own = std::move(told)]() mutable {
      if (how_) return std::move(own).post(std::move(*how_));
      waiting_ = std::make_unique<handler_waits<Handler>>(std::move(own));
      begin_once();
    });
  }

private:
  /// What is told of the end.
  struct waits {
    virtual ~waits() = default;
    virtual void tell(outcome<value> how) = 0;
  };
  template <class Handler>
  struct handler_waits final : waits {
    explicit handler_waits(completion_handler<Handler> of) : handler(std::move(of)) {}
    void tell(outcome<value> how) override { std::move(handler).post(std::move(how)); }
    completion_handler<Handler> handler;
  };

  void begin_once() {
    if (!this->has_begun()) this->begin();
  }

  void tell(outcome<value> how) override {
    if (const auto waiting = std::move(waiting_)) {
      waiting->tell(std::move(how));
    } else {
      how_ = std::move(how);
    }
  }

  std::unique_ptr<waits> waiting_;  // at the engine, as what follows
  std::optional<outcome<value>> how_;
};

/// Makes a call and awaits it.
template <class Executor, class Begin>
net::awaitable<typename call<Begin>::value, Executor> await_call(std::shared_ptr<driver> by,
                                                                 Begin begin) {
  using value = typename call<Begin>::value;
  const auto made = std::make_shared<awaited_call<Begin>>(std::move(by), std::move(begin));
  // One that may be canceled begins where it hears of that.
  const net::cancellation_state asked = co_await net::this_coro::cancellation_state;
  std::optional<outcome<value>> how;
  if (!asked.slot().is_connected()) how = made->try_now();
  if (how) {
    if (how->why) throw boost::system::system_error(how->why);
    if constexpr (std::is_void_v<value>) {
      co_return;
    } else {
      co_return how->take();
    }
  }
  const net::use_awaitable_t<Executor> token;
  co_return co_await net::async_initiate<const net::use_awaitable_t<Executor>,
                                         typename completion<value>::signature>(
      [made](auto&& handler) { made->complete_with(std::forward<decltype(handler)>(handler)); },
      token);
}

/// The executor of a `use_awaitable_t`.
template <class Token>
struct awaiting {};
template <class Executor>
struct awaiting<net::use_awaitable_t<Executor>> {
  using executor = Executor;
};

/// Makes a call, whose end the token says how to tell.
template <class Begin, class Token>
auto initiate(std::shared_ptr<driver> by, Begin begin, Token&& token) {
  using value = typename call<Begin>::value;
  if constexpr (requires { typename awaiting<std::decay_t<Token>>::executor; }) {
    using executor = typename awaiting<std::decay_t<Token>>::executor;
    return await_call<executor>(std::move(by), std::move(begin));
  } else {
    return net::async_initiate<Token, typename completion<value>::signature>(
        initiation{}, token, std::move(by), std::move(begin));
  }
}

}  // namespace muster::asio::detail
