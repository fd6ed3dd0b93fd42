#pragma once

#include <fcntl.h>
#include <sched.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <muster/asio/one_at_a_time.hpp>
#include <muster/base/error.hpp>
#include <muster/progress/engine.hpp>

namespace muster::asio {

/// Drives an engine, whose mode is `progress::external`, by the handlers of an `io_context`: polls
/// while something moves and for a moment afterwards, then waits for the engine's descriptor. Any
/// number of threads may run the context; one at a time is at the engine.
///
/// Only operations that are pending count as work of the context, and only for them is anything
/// polled or waited for.
class driver final : public engine::outside_driver, public std::enable_shared_from_this<driver> {
public:
  /// \param of outlives `close`
  driver(boost::asio::io_context& by, muster::engine& of);
  /// Ends all that is pending with `errc::stopped`. Afterwards it drives nothing.
  void close();

  boost::asio::io_context& context() const noexcept { return context_; }

  /// Calls `act` at the engine, here and now where nobody else is there, otherwise on the thread
  /// that is. In the order of the calls.
  template <class Act>
  void at_engine(Act act) {
    serial_.run([self = shared_from_this(), act = std::move(act)]() mutable { act(); });
  }

  /// Calls `act` at the engine here and now; not where somebody else is there, nor where other
  /// handlers of the context have waited for long enough. Whether it did.
  template <class Act>
  bool at_engine_now(Act act) {
    bool has_acted = false;
    serial_.try_run([&] {
      if (!closed_ && others_have_waited_long_enough()) return;
      act();
      has_acted = true;
    });
    return has_acted;
  }

  // ---- at the engine

  bool is_closed() const noexcept { return closed_; }
  muster::engine& engine() const noexcept { return engine_; }
  /// An operation is pending from now on, is no more.
  void operation_begins() noexcept { ++pending_; }
  void operation_ended() noexcept { --pending_; }
  /// An operation has begun, or something has been asked of it: the engine is to look, at once and
  /// for as long as something is pending.
  void wake();

private:
  bool others_have_waited_long_enough();
  void begin_turn() noexcept;
  void drive_soon();
  void drive();
  /// Whether a poll moved something.
  bool poll_for_a_moment();
  bool has_looked_long_enough();
  void sleep();
  void end_sleep();

  boost::asio::io_context& context_;
  muster::engine& engine_;
  one_at_a_time serial_;
  boost::asio::posix::stream_descriptor bell_;
  boost::asio::steady_timer timer_;
  std::size_t pending_ = 0;
  bool is_posted_ = false;  // `drive`
  bool polls_ = false;
  bool sleeps_ = false;
  bool closed_ = false;
  clock_time idle_since_{0};         // 0: it is not
  clock_time turn_began_{0};         // of the context, in which calls end here and now
  unsigned calls_since_looked_ = 0;  // at the clock
};

namespace detail {

inline int duplicate_descriptor(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw error(errc::resource, "asio: no descriptor for the engine's");
  return copy;
}

}  // namespace detail

inline driver::driver(boost::asio::io_context& by, muster::engine& of)
    : context_(by),
      engine_(of),
      bell_(by, detail::duplicate_descriptor(of.wakeup_descriptor())),
      timer_(by) {}

inline void driver::close() {
  at_engine([this] {
    closed_ = true;
    end_sleep();
    engine_.stop();
  });
}

// A coroutine whose calls all end at once would never let go of the context.
inline bool driver::others_have_waited_long_enough() {
  constexpr clock_time turn = std::chrono::microseconds(20);
  constexpr unsigned look_each = 8;  // calls: a look costs a tenth of one
  if (++calls_since_looked_ < look_each) return false;
  calls_since_looked_ = 0;
  if (engine_.now() - turn_began_ < turn) return false;
  begin_turn();
  return true;
}

inline void driver::begin_turn() noexcept {
  turn_began_ = engine_.now();
  calls_since_looked_ = 0;
}

// Whom an operation waits for is often about to come: a moment now saves a turn of the context.
inline void driver::wake() {
  end_sleep();
  if (polls_ || is_posted_) return drive_soon();
  drive();
}

inline void driver::drive_soon() {
  if (is_posted_ || closed_) return;
  is_posted_ = true;
  boost::asio::post(context_, [self = shared_from_this()] {
    self->at_engine([self] {
      self->is_posted_ = false;
      if (self->closed_) return;  // the engine may be gone
      self->begin_turn();
      self->drive();
    });
  });
}

inline void driver::drive() {
  if (closed_ || sleeps_ || pending_ == 0) return;
  if (poll_for_a_moment()) idle_since_ = clock_time(0);
  if (pending_ == 0) return;
  // Other handlers get their turn between two moments.
  if (!has_looked_long_enough() || !engine_.prepare_to_sleep()) return drive_soon();
  sleep();
}

inline bool driver::poll_for_a_moment() {
  // A few microseconds where nothing is found: polls, or turns of the ranks of this core.
  const bool yields = engine_.waiting().yields_at_once();
  const unsigned moment = yields ? 4 : 32;
  polls_ = true;
  bool has_moved = false;
  for (unsigned i = 0; i < moment && pending_ != 0; ++i) {
    if (engine_.poll()) {
      has_moved = true;
    } else if (yields) {
      ::sched_yield();
    } else {
      spin_pause();
    }
  }
  if (pending_ != 0) has_moved = engine_.resume_interrupted(false) || has_moved;
  polls_ = false;
  return has_moved;
}

inline bool driver::has_looked_long_enough() {
  const clock_time now = engine_.now();
  if (idle_since_ == clock_time(0)) idle_since_ = now;
  return now - idle_since_ >= engine_.waiting().yield_for;
}

inline void driver::sleep() {
  sleeps_ = true;
  const auto wake_up = [self = shared_from_this()](const boost::system::error_code& why) {
    self->at_engine([self, why] {
      // Woken by something else; any other error is one more reason to look.
      if (!self->sleeps_ || why == boost::asio::error::operation_aborted) return;
      self->wake();
    });
  };
  bell_.async_wait(boost::asio::posix::stream_descriptor::wait_read, wake_up);
  if (const auto limit = engine_.sleep_limit()) {
    timer_.expires_after(std::chrono::ceil<boost::asio::steady_timer::duration>(*limit));
    timer_.async_wait(wake_up);
  }
}

inline void driver::end_sleep() {
  idle_since_ = clock_time(0);
  if (!sleeps_) return;
  sleeps_ = false;
  boost::system::error_code ignored;
  bell_.cancel(ignored);
  timer_.cancel();
}

}  // namespace muster::asio
