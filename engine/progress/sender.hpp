#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>

namespace muster {

/// Whoever is told how a `task<T>` ended, in the shape of std::execution's receivers.
template <class R, class T>
concept receiver_of = std::move_constructible<R> && requires(R& one, std::exception_ptr why) {
  one.set_error(why);
  one.set_stopped();
} && (std::is_void_v<T> ? requires(R& one) {
                        one.set_value();
                      } : requires(R& one, std::conditional_t<std::is_void_v<T>, int, T> value) {
                        one.set_value(std::move(value));
                      });

/// A task as a sender, in the shape of std::execution's: nothing runs until what `connect` gives is
/// started. Connected at most once. See docs/guide/reference.md for what stdexec asks beside this.
template <class T>
class task_sender {
public:
  using value_type = T;

  task_sender(engine& where, task<T> work) noexcept : where_(&where), work_(std::move(work)) {}

  /// Stays where it is from `start` until the receiver is told, on the thread that drives the
  /// engine.
  template <class R>
  class operation {
  public:
    operation(engine& where, task<T> work, R receiver)
        : where_(where), work_(std::move(work)), receiver_(std::move(receiver)) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    void start() noexcept {
      try {
        auto whole = run(teller(*this));
        muster::start(where_, std::move(whole)).detach();
      } catch (...) {
        receiver_.set_error(std::current_exception());
      }
    }

  private:
    /// Tells the receiver that it was stopped where its coroutine goes without having begun.
    class teller {
    public:
      explicit teller(operation& of) noexcept : of_(&of) {}
      teller(teller&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
      ~teller() {
        if (of_ != nullptr) of_->receiver_.set_stopped();
      }
      teller& operator=(const teller&) = delete;
      operation& take() noexcept { return *std::exchange(of_, nullptr); }

    private:
      operation* of_;
    };

    static task<> run(teller one) {
      operation& of = one.take();
      std::exception_ptr why;
      typename result::type got{};
      try {
        task<T> mine = std::move(of.work_);
        if constexpr (std::is_void_v<T>) {
          co_await std::move(mine);
        } else {
          got.emplace(co_await std::move(mine));
        }
      } catch (...) {
        why = std::current_exception();
      }
      of.tell(why, std::move(got));
    }

    struct result {
      using type = std::optional<std::conditional_t<std::is_void_v<T>, bool, T>>;
    };

    /// The operation may be gone when the receiver has been told.
    void tell(const std::exception_ptr& why, typename result::type got) {
      if (is_stop(why)) return receiver_.set_stopped();
      if (why) return receiver_.set_error(why);
      if constexpr (std::is_void_v<T>) {
        receiver_.set_value();
      } else {
        receiver_.set_value(std::move(*got));
      }
    }
    static bool is_stop(const std::exception_ptr& why) noexcept {
      if (!why) return false;
      try {
        std::rethrow_exception(why);
      } catch (const error& failure) {
        return failure.code() == errc::stopped;
      } catch (...) {
        return false;
      }
    }

    engine& where_;
    task<T> work_;
    R receiver_;
  };

  template <receiver_of<T> R>
  operation<R> connect(R receiver) && {
    return {*where_, std::move(work_), std::move(receiver)};
  }

private:
  engine* where_;
  task<T> work_;
};

template <class T>
task_sender<T> as_sender(engine& where, task<T> work) noexcept {
  return {where, std::move(work)};
}

/// The same on the engine that the task's own parameters name, as those of every collective do.
/// \throws error `errc::invalid_argument` where they name none
template <class T>
task_sender<T> as_sender(task<T> work) {
  if (work.where() == nullptr) {
    throw error(errc::invalid_argument,
                "as_sender: the task names no engine; expected as_sender(engine, task)");
  }
  engine& where = *work.where();
  return {where, std::move(work)};
}

}  // namespace muster
