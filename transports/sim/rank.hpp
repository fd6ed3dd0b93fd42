#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/run/team.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/cache_line.hpp>
#include <muster/wire/virtual_time.hpp>

#include "transports/sim/clock.hpp"
#include "transports/sim/counters.hpp"
#include "transports/sim/fabric.hpp"
#include "transports/sim/node.hpp"

namespace muster::sim {

class channel;
class core;
struct message;
class simulation;

/// One simulated rank: what it does and what that costs, its clock, its engine and team.
class alignas(wire::cache_line) rank final : public virtual_clock {
public:
  rank(simulation& in, std::size_t number, node& on, core& by);
  rank(const rank&) = delete;
  rank& operator=(const rank&) = delete;

  std::size_t number() const noexcept { return number_; }
  muster::team& team() noexcept { return team_; }
  muster::engine& engine() noexcept { return engine_; }
  sim::fabric& fabric() noexcept { return fabric_; }
  sim::counters counted() const noexcept;

  /// Awaited: some time passes at this rank, of which its core is free. Late arrivals are made of
  /// this.
  class pause;
  pause rest(clock_time time) noexcept;
  /// Awaited: all ranks meet, at no cost: goes on at the time at which the last one came, on all
  /// ranks alike. In place of the barrier with which benchmarks begin.
  class meeting;
  meeting meet() noexcept;
  /// Awaited: its core computes for some time.
  wire::work_wait compute(clock_time time) noexcept;

  /// What ended its program, if something did.
  std::exception_ptr failure() const noexcept { return failure_; }
  bool is_over() const noexcept { return over_; }
  bool is_dead() const noexcept { return dead_; }
  /// Whether it has found nothing for so long that it has to be woken.
  bool is_asleep() const noexcept;

  // ---- for its fabrics

  void announce(wire::counter& word, std::uint64_t value) noexcept;
  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept;
  /// The kernel copies from another rank's memory.
  void fetch(const std::byte* from, std::span<std::byte> to) noexcept;
  std::span<std::byte> allocate(std::size_t bytes, bool for_shared_scratch) {
    return node_.allocate(bytes, for_shared_scratch);
  }
  void deallocate(std::span<std::byte> memory) noexcept { node_.deallocate(memory); }

  // What `wire::virtual_time` says.
  void copy(std::span<std::byte> to, const std::byte* from) noexcept;
  void combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
               std::size_t count);
  void read_flag(const void* flag) noexcept;
  bool take_line(const void* flag) noexcept;
  bool busy() const noexcept;
  void resume_when_done(std::coroutine_handle<> next) noexcept;

  /// A rank's place in a team, and the team.
  struct position {
    std::size_t self;
    std::size_t ranks;
    std::uint64_t team;  ///< its number
  };
  /// An operation of such a team begins here, ends.
  void begin_operation(const position& in, std::uint64_t sequence, const arguments& call,
                       std::string_view algorithm) noexcept;
  void end_operation(const position& in, std::uint64_t sequence, std::size_t lane,
                     const arguments& call) noexcept;
  /// When all that it has announced is visible.
  picoseconds quiet_at() const noexcept { return last_visible_; }

  // ---- virtual_clock
  clock_time now() const noexcept override;
  /// The same with all digits.
  picoseconds local_time() const noexcept { return local(); }
  void expect(clock_time deadline) noexcept override;

private:
  friend class channel;
  friend class simulation;
  friend class core;

  /// When what it has been doing so far is done.
  picoseconds local() const noexcept;
  void charge(picoseconds time) noexcept;
  /// Where a side of a copy lies.
  enum class level { core, other_core, cache, memory };
  enum class side { read, written };
  picoseconds side_time(std::size_t bytes, level where, side which) const noexcept;
  level level_of(std::span<const std::byte> part) const noexcept;
  void charge_side(std::size_t bytes, level where, side which) noexcept;
  void charge_copy(std::size_t bytes, level to, level from) noexcept;
  /// The line with which another rank's data begin has to travel.
  void charge_line(const std::byte* from) noexcept;
  void fetch_line(const void* line) noexcept;
  /// Holds what is read and written of shared memory against what is announced.
  void watch(std::span<const std::byte> to, std::span<const std::byte* const> from,
             std::size_t bytes);
  void set_levels(const position& in, const arguments& call) noexcept;
  bool goes_through_memory(const message& one) const noexcept;
  void charge_kernel_copy(std::size_t bytes) noexcept;
  void charge_put(message& one) noexcept;
  void register_for(const message& one) noexcept;
  void count_read(const std::byte* from, std::size_t bytes) noexcept;
  void count_written(std::span<const std::byte> to) noexcept;

  /// Whether it is a rank of this node.
  bool is_local_peer(std::size_t other) const noexcept;
  /// Sends a message of one of its channels.
  void post(message& one) noexcept;
  /// Copies a part of a message to where it belongs, unless it came there by itself.
  void receive(const message& one, std::span<std::byte> to);
  /// Begins to take a message out.
  void notice(const message& one) noexcept;
  void send_credit(channel& on, std::uint64_t upto) noexcept;

  /// Something that it may be waiting for has happened.
  void wake() noexcept;
  /// The same for another rank, by this one, which pays for it if that one sleeps.
  void wake_other(rank& other) noexcept;
  /// Looks at all that it waits for; its core is its own now.
  void look() noexcept;
  /// Some wait's deadline has come.
  void meet_deadline() noexcept;
  void check_reasons_to_end(bool& moved);
  void finish_work() noexcept;
  /// The time has come at which it is to run, or to look again.
  void run() noexcept;
  void begin_program() noexcept;
  task<> run_program();
  void die() noexcept;
  /// Ends what it still runs.
  void stop() noexcept;

  // Has the cache lines fetched that it will look at when it goes on: first its own; then those
  // that these name, of its core and of the coroutine that goes on, or of the first wait; then
  // those that this wait names.
  void prefetch() const noexcept;
  void prefetch_coroutine() const noexcept;
  void prefetch_wait() const noexcept;

  static constexpr picoseconds never = std::numeric_limits<picoseconds>::max();

  // First what nearly every event looks at: a few cache lines one after the other.
  simulation& in_;
  std::size_t number_;
  node& node_;
  core& core_;
  std::coroutine_handle<> working_;  // resumed when its core is done
  picoseconds idle_since_ = 0;
  picoseconds awake_for_ = 0;  // then, if it finds nothing, it sleeps
  bool begun_ = false;
  bool over_ = false;
  bool dead_ = false;
  bool waking_ = false;         // from sleep
  bool pending_ = false;        // to look as soon as its core lets it
  bool to_check_ = false;       // to look for reasons to give up, too
  std::size_t operations_ = 0;  // in progress
  std::size_t lines_ = 0;       // so begun, of stages, since it last looked or began an operation
  std::vector<std::coroutine_handle<>> also_working_;  // after working_, the last first
  std::vector<bool> sent_to_;                          // ranks
  sim::counters counters_;
  muster::engine engine_;
  sim::fabric fabric_;
  muster::team team_;
  future<> program_;

  picoseconds last_visible_ = 0;       // its flags become visible in order
  picoseconds next_deadline_ = never;  // of some wait, and scheduled
  // Of the last operation begun.
  collective what_ = collective::barrier;
  std::size_t contributed_ = 0;    // bytes, by this rank
  level buffers_ = level::core;    // the program's
  level stages_ = level::core;     // those of this rank
  picoseconds first_line_ = 0;     // of what another rank staged
  std::uint64_t registered_ = 0;   // a bit for each lane: the operation's memory is
  std::size_t registrations_ = 0;  // buffers so far
  std::exception_ptr failure_;
};

class rank::pause final : public waiter {
public:
  pause(rank& of, picoseconds until) noexcept : of_(of), until_(until) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(of_.engine(), self);
    wake_later();
  }
  void await_resume() { rethrow_interruption(); }
  // Nothing in memory: the time.
  const void* watched() const noexcept override { return this; }
  std::string describe() const override { return "a pause"; }

private:
  void wake_later() noexcept;

  rank& of_;
  picoseconds until_;
};

class rank::meeting final : public waiter {
public:
  explicit meeting(rank& of) noexcept;
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(of_.engine(), self);
  }
  void await_resume() { rethrow_interruption(); }
  const void* watched() const noexcept override { return this; }
  std::string describe() const override { return "all ranks to meet"; }

private:
  rank& of_;
  std::uint64_t number_;
};

}  // namespace muster::sim
