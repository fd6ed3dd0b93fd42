#include <muster/asio/driver.hpp>

#include <fcntl.h>
#include <sched.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <mutex>

#include <muster/base/error.hpp>

namespace muster::asio {
namespace net = boost::asio;

namespace {

int duplicate(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw error(errc::resource, "asio: no descriptor for the engine's");
  return copy;
}

}  // namespace

driver::driver(net::io_context& by, muster::engine& of)
    : context_(by),
      engine_(of),
      strand_(by.get_executor()),
      bell_(by, duplicate(of.wakeup_descriptor())),
      timer_(by) {}

void driver::close() {
  const std::scoped_lock alone(at_engine_);
  closed_ = true;
  end_sleep();
  engine_.stop();
}

// A coroutine whose calls all end at once would never let go of the context.
bool driver::others_have_waited_long_enough() {
  constexpr clock_time turn = std::chrono::microseconds(20);
  constexpr unsigned look_each = 8;  // calls: a look costs a tenth of one
  if (++calls_since_looked_ < look_each) return false;
  calls_since_looked_ = 0;
  if (engine_.now() - turn_began_ < turn) return false;
  begin_turn();
  return true;
}

void driver::begin_turn() noexcept {
  turn_began_ = engine_.now();
  calls_since_looked_ = 0;
}

// Whom an operation waits for is often about to come: a moment now saves a turn of the context.
void driver::wake() {
  end_sleep();
  if (polls_ || is_posted_) return drive_soon();
  drive();
}

void driver::drive_soon() {
  if (is_posted_ || closed_) return;
  is_posted_ = true;
  net::post(strand_, [self = shared_from_this()] {
    const std::scoped_lock alone(self->at_engine_);
    self->is_posted_ = false;
    self->begin_turn();
    self->drive();
  });
}

void driver::drive() {
  if (closed_ || sleeps_ || pending_ == 0) return;
  if (poll_for_a_moment()) idle_since_ = clock_time(0);
  if (pending_ == 0) return;
  // Other handlers get their turn between two moments.
  if (!has_looked_long_enough() || !engine_.prepare_to_sleep()) return drive_soon();
  sleep();
}

bool driver::poll_for_a_moment() {
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

bool driver::has_looked_long_enough() {
  const clock_time now = engine_.now();
  if (idle_since_ == clock_time(0)) idle_since_ = now;
  return now - idle_since_ >= engine_.waiting().yield_for;
}

void driver::sleep() {
  sleeps_ = true;
  const auto wake_up = [self = shared_from_this()](const boost::system::error_code& why) {
    const std::scoped_lock alone(self->at_engine_);
    // Woken by something else; any other error is one more reason to look.
    if (!self->sleeps_ || why == net::error::operation_aborted) return;
    self->wake();
  };
  bell_.async_wait(net::posix::stream_descriptor::wait_read, net::bind_executor(strand_, wake_up));
  if (const auto limit = engine_.sleep_limit()) {
    timer_.expires_after(std::chrono::ceil<net::steady_timer::duration>(*limit));
    timer_.async_wait(net::bind_executor(strand_, wake_up));
  }
}

void driver::end_sleep() {
  idle_since_ = clock_time(0);
  if (!sleeps_) return;
  sleeps_ = false;
  boost::system::error_code ignored;
  bell_.cancel(ignored);
  timer_.cancel();
}

}  // namespace muster::asio
