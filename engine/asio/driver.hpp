#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

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

  /// Calls `act` at the engine: here and now where nobody else is there, otherwise in a turn of the
  /// context. In the order of the calls.
  template <class Act>
  void at_engine(Act act) {
    // relaxed: who calls next does so after this; who acts then holds the lock.
    queued_.fetch_add(1, std::memory_order_relaxed);
    boost::asio::dispatch(strand_, [self = shared_from_this(), act = std::move(act)]() mutable {
      const std::scoped_lock alone(self->at_engine_);
      self->queued_.fetch_sub(1, std::memory_order_relaxed);
      act();
    });
  }

  /// Calls `act` at the engine here and now; not where somebody else is there or waits to be, nor
  /// where other handlers of the context have waited for long enough. Whether it did.
  template <class Act>
  bool at_engine_now(Act act) {
    const std::unique_lock alone(at_engine_, std::try_to_lock);
    if (!alone.owns_lock() || queued_.load(std::memory_order_relaxed) != 0) return false;
    if (others_have_waited_long_enough()) return false;
    act();
    return true;
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
  using strand_type = boost::asio::strand<boost::asio::io_context::executor_type>;

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
  strand_type strand_;
  std::recursive_mutex at_engine_;  // a coroutine that the engine resumes may call, too
  std::atomic<int> queued_{0};      // for the strand, by `at_engine`
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

}  // namespace muster::asio
