#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <cstddef>
#include <memory>

#include <muster/progress/engine.hpp>

namespace muster::asio {

/// Drives an engine, whose mode is `progress::external`, by the handlers of an `io_context`: polls
/// while something moves and for a moment afterwards, then waits for the engine's descriptor, all
/// on one strand. Any number of threads may run the context.
///
/// Only operations that are pending count as work of the context, and only for them is anything
/// polled or waited for.
class driver final : public engine::outside_driver, public std::enable_shared_from_this<driver> {
public:
  using strand_type = boost::asio::strand<boost::asio::io_context::executor_type>;

  /// \param of outlives `close`
  driver(boost::asio::io_context& by, muster::engine& of);
  /// Ends all that is pending with `errc::stopped`. Afterwards it drives nothing.
  void close();

  /// Where everything of the engine happens.
  const strand_type& strand() const noexcept { return strand_; }
  boost::asio::io_context& context() const noexcept { return context_; }

  // ---- on the strand

  bool is_closed() const noexcept { return closed_; }
  muster::engine& engine() const noexcept { return engine_; }
  /// An operation is pending from now on, is no more.
  void operation_begins() noexcept { ++pending_; }
  void operation_ended() noexcept { --pending_; }
  /// An operation has begun, or something has been asked of it: the engine is to look, at once and
  /// for as long as something is pending.
  void wake();

private:
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
  boost::asio::posix::stream_descriptor bell_;
  boost::asio::steady_timer timer_;
  std::size_t pending_ = 0;
  bool is_posted_ = false;  // `drive`
  bool polls_ = false;
  bool sleeps_ = false;
  bool closed_ = false;
  clock_time idle_since_{0};  // 0: it is not
};

}  // namespace muster::asio
