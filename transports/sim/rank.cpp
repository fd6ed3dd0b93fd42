#include "transports/sim/rank.hpp"

#include <algorithm>

#include <muster/base/prefetch.hpp>
#include <muster/run/link_waits.hpp>

#include "transports/sim/core.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

rank::rank(simulation& in, std::size_t number, node& on, core& by)
    : in_(in),
      number_(number),
      node_(on),
      core_(by),
      awake_for_(in.awake_for(number)),
      sent_to_(in.shape().size()),
      engine_({.progress = progress::external, .waiting = waiting_policy::asleep(), .clock = this},
              doorbell::none()),
      fabric_(*this, in),
      team_(engine_, fabric_, in.shape(), number, in.rows(), in.machine()) {}

// What is still suspended in local work would not hear that it is to stop: it goes on to its next
// wait first.
void rank::stop() noexcept {
  while (working_) {
    std::exchange(working_, {}).resume();
    if (working_ || also_working_.empty()) continue;
    working_ = also_working_.back();
    also_working_.pop_back();
  }
  engine_.stop();
}

// ---- its own time

picoseconds rank::local() const noexcept { return std::max(in_.now(), core_.free()); }

void rank::charge(picoseconds time) noexcept { core_.use_until(local() + time); }

clock_time rank::now() const noexcept { return to_clock(local()); }

// One event for the earliest deadline, though every wait that is begun anew tells its own again.
void rank::expect(clock_time deadline) noexcept {
  const picoseconds when = std::max(in_.now(), from(deadline));
  if (when >= next_deadline_) return;
  next_deadline_ = when;
  in_.schedule(when, event::kind::deadline, number_);
}

void rank::meet_deadline() noexcept {
  if (in_.now() != next_deadline_) return;  // an earlier one came in between, and then another
  to_check_ = true;
  wake();
}

void rank::check_reasons_to_end(bool& moved) {
  moved = engine_.resume_interrupted(true) || moved;
  if (next_deadline_ > in_.now()) return;
  next_deadline_ = never;
  if (const auto left = engine_.sleep_limit()) expect(engine_.now() + *left);
}

rank::pause rank::rest(clock_time time) noexcept { return {*this, local() + from(time)}; }
bool rank::pause::ready() noexcept { return of_.in_.now() >= until_; }
void rank::pause::wake_later() noexcept { of_.in_.schedule(until_, event::kind::run, of_.number_); }

rank::meeting rank::meet() noexcept { return meeting(*this); }
rank::meeting::meeting(rank& of) noexcept
    : of_(of), number_(of.in_.come_to_meeting(of.number_, of.local())) {}
bool rank::meeting::ready() noexcept { return of_.in_.is_met(number_); }

wire::work_wait rank::compute(clock_time time) noexcept {
  charge(from(time));
  return wire::work_wait(&fabric_);
}

// ---- when it runs

bool rank::is_asleep() const noexcept {
  return !pending_ && !waking_ && !working_ && begun_ && in_.now() - idle_since_ > awake_for_;
}

void rank::wake() noexcept {
  if (over_ || dead_ || pending_ || waking_) return;
  if (is_asleep()) {
    waking_ = true;
    in_.schedule(in_.now() + in_.costs().wake, event::kind::run, number_);
    return;
  }
  pending_ = true;
  if (!working_) core_.request(*this);
}

void rank::wake_other(rank& other) noexcept {
  if (other.is_asleep() && !other.over_ && !other.dead_) charge(in_.costs().system_call);
  other.wake();
}

void rank::run() noexcept {
  waking_ = false;
  if (over_ || dead_ || working_) return;
  pending_ = true;
  core_.request(*this);
}

void rank::look() noexcept {
  const picoseconds began = in_.now();
  // Counted before its program goes on and reads it; taken back if there was nothing to go on for.
  const picoseconds waited = operations_ != 0 ? std::max<picoseconds>(began - idle_since_, 0) : 0;
  counters_.waiting += waited;
  pending_ = false;
  lines_ = 0;
  bool moved = !begun_;
  if (!begun_) begin_program();
  if (std::exchange(to_check_, false)) check_reasons_to_end(moved);
  // Where something got on, something else may have been stopped by it.
  while (!working_ && (engine_.poll() || (moved && engine_.resume_interrupted(false)))) {
    moved = true;
  }
  if (moved) {
    in_.moved();
    if (in_.trace() != nullptr && waited > 0) {
      in_.trace()->slice(number_, "wait", idle_since_, began);
    }
    idle_since_ = local();
  } else {
    counters_.waiting -= waited;
  }
  if (working_) {
    pending_ = true;  // what it has not looked at yet
  } else {
    core_.release(*this);
  }
}

void rank::finish_work() noexcept {
  if (dead_) return core_.release(*this);
  std::exchange(working_, {}).resume();
  if (!working_ && !also_working_.empty()) {
    working_ = also_working_.back();
    also_working_.pop_back();
    in_.schedule(local(), event::kind::work_done, number_);
  }
  idle_since_ = local();
  if (!working_) look();
}

namespace {

/// About what a coroutine that exchanges messages has in its frame.
constexpr std::size_t frame_bytes = 320;

}  // namespace

void rank::prefetch() const noexcept {
  const auto bytes =
      reinterpret_cast<const std::byte*>(&fabric_ + 1) - reinterpret_cast<const std::byte*>(this);
  prefetch_to_read(this, static_cast<std::size_t>(bytes));
}

void rank::prefetch_coroutine() const noexcept {
  prefetch_to_read(&core_);
  if (working_) prefetch_to_read(working_.address(), frame_bytes);
  if (const waiter* const first = engine_.first_wait()) prefetch_to_read(first, sizeof(link_wait));
}

void rank::prefetch_wait() const noexcept {
  const waiter* const first = engine_.first_wait();
  if (first == nullptr) return;
  prefetch_to_read(first->resumed().address(), frame_bytes);
  if (const void* const watched = first->watched()) prefetch_to_read(watched, sizeof(link));
}

void rank::begin_program() noexcept {
  begun_ = true;
  program_ = start(engine_, run_program());
}

task<> rank::run_program() {
  try {
    co_await in_.rank_program()(*this);
  } catch (...) {
    failure_ = std::current_exception();
  }
  over_ = true;
  counters_.finished = local();
  in_.end_program(*this);
}

void rank::die() noexcept {
  dead_ = true;
  pending_ = false;
}

}  // namespace muster::sim
