#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

#include <muster/base/error.hpp>

namespace muster {

/// Time as the engine that runs a coroutine tells it; virtual time in a simulator.
using clock_time = std::chrono::nanoseconds;

/// One level of cancellation. A coroutine belongs to the scope it was awaited in, a scope to the
/// one around it, and a stop or deadline of any level ends every wait inside it. Scopes are asked,
/// not told: the engine looks when it has nothing better to do, so they cost a running operation
/// nothing and need no registration.
class stop_scope {
public:
  explicit stop_scope(const stop_scope* around = nullptr) noexcept : around_(around) {}
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;

  static constexpr const char* on_request = "stopped on request";
  /// Ends all waits of this scope with `errc::stopped`. Any thread.
  /// \param why a literal, for the error's text
  // relaxed: the words do not change; the engine that acts on it is woken by other means.
  void request_stop(const char* why = on_request) noexcept {
    requested_.store(why, std::memory_order_relaxed);
  }

  void follow(std::stop_token token) noexcept { token_ = std::move(token); }
  void expire_at(clock_time when) noexcept { deadline_ = when; }

  /// Why waits of this scope must end at time `now`, if they must.
  std::optional<errc> stopped(clock_time now) const noexcept {
    for (const stop_scope* scope = this; scope != nullptr; scope = scope->around_) {
      if (scope->requested_.load(std::memory_order_relaxed) != nullptr ||
          scope->token_.stop_requested()) {
        return errc::stopped;
      }
      if (scope->deadline_ && now >= *scope->deadline_) return errc::deadline_exceeded;
    }
    return std::nullopt;
  }

  /// Of waits that must end with `errc::stopped`: why.
  const char* words() const noexcept {
    for (const stop_scope* scope = this; scope != nullptr; scope = scope->around_) {
      const char* const why = scope->requested_.load(std::memory_order_relaxed);
      if (why != nullptr) return why;
    }
    return on_request;
  }

  /// The earliest deadline of this scope and those around it.
  std::optional<clock_time> deadline() const noexcept {
    std::optional<clock_time> first;
    for (const stop_scope* scope = this; scope != nullptr; scope = scope->around_) {
      if (scope->deadline_ && (!first || *scope->deadline_ < *first)) first = scope->deadline_;
    }
    return first;
  }

private:
  const stop_scope* around_;
  std::atomic<const char*> requested_{nullptr};  // why; null: it was not
  std::stop_token token_;
  std::optional<clock_time> deadline_;
};

}  // namespace muster
