#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>

#include "tools/mpi/next.hpp"

namespace muster::mpi {

/// Drives the engine from within calls of MPI, on whichever thread makes them, and the MPI in turn
/// where one of these calls waits: neither may stand still while the other is waited for.
class driver {
public:
  /// \param many_threads may be in MPI at once
  driver(muster::engine& of, bool many_threads) noexcept
      : engine_(of), many_threads_(many_threads) {}

  muster::engine& engine() const noexcept { return engine_; }

  /// A thread's stay in the shim; there is one at a time.
  class entry {
  public:
    explicit entry(driver& in) : in_(in) { in_.enter(); }
    ~entry() { in_.leave(); }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

  private:
    driver& in_;
  };

  /// With an entry: ends that while code of the program's runs, which may jump away and never
  /// return; begins it anew behind that.
  class absence {
  public:
    explicit absence(driver& from) : from_(from) { from_.leave(); }
    ~absence() { from_.enter(); }
    absence(const absence&) = delete;
    absence& operator=(const absence&) = delete;

  private:
    driver& from_;
  };

  /// The same as an entry where no other thread may be in MPI.
  class lone_entry {
  public:
    explicit lone_entry(driver& in) noexcept : in_(in) { ++in_.depth_; }
    ~lone_entry() { --in_.depth_; }
    lone_entry(const lone_entry&) = delete;
    lone_entry& operator=(const lone_entry&) = delete;

  private:
    driver& in_;
  };
  bool has_many_threads() const noexcept { return many_threads_; }

  /// With an entry: drives until `done()`. Other threads may enter meanwhile.
  template <class Done>
  void until(Done done) {
    // A peer may need this rank in the MPI before it comes here. Most waits end before that.
    std::uint64_t next_look = polls_worth(0) + between_looks;
    std::uint64_t polls = 0;
    bool looked = false;
    const auto enough = [&] {
      if (done()) return true;
      // Whoever else waits at the gate, each turn is good for a look.
      if (!std::exchange(looked, true)) return false;
      const std::uint64_t now = polls_worth(++polls);
      if (now >= next_look) {
        progress_mpi();
        next_look = now + between_looks;
      }
      return entrants_waiting_.load(std::memory_order_relaxed) != 0;
    };
    const wait counted(waiting_);
    while (!done()) {
      looked = engine_.has_own_thread();  // which does the looking
      if (engine_.has_own_thread()) {
        if (!enough()) ::sched_yield();
      } else {
        engine_.drive_until(enough);
      }
      if (many_threads_) let_others_in();
    }
  }

  /// With an entry: runs `work` to its end. \throws what it throws
  void run(task<>&& work) {
    if (engine_.has_own_thread()) {
      future<> running = start(engine_, std::move(work));
      until([&] { return running.ended(); });
      running.wait();
    } else {
      work.begin({&engine_, &engine_.scope()});
      if (!work.done()) until([&] { return work.done(); });
      work.take();
    }
  }

  /// From the MPI's progress: calls `look()` where no thread has entered, perhaps this one, and
  /// drives the engine for one look, unless a thread waits and does so. (What only the MPI combines
  /// is then combined on that thread, which is not in the MPI.)
  template <class Look>
  void tend(Look look) {
    // The engine's own thread looks for messages between machines, and may wait for nothing there.
    if (engine_.has_own_thread() && engine_.on_own_thread()) return;
    if (many_threads_ && !gate_.try_lock()) return;
    if (depth_ == 0) {
      ++depth_;
      if (waiting_ == 0) drive_once();
      look();
      --depth_;
    }
    if (many_threads_) gate_.unlock();
  }

  /// With an entry: has the engine, if it is driven so, look once.
  void drive_once() {
    if (engine_.has_own_thread()) return;
    engine_.drive_until([first = true]() mutable { return !std::exchange(first, false); });
  }

  /// Where teams live and die: runs `work()` on the thread that drives the engine.
  template <class Work>
  void on_engine(Work work) {
    if (!engine_.has_own_thread()) return work();
    start(engine_, as_task(work)).wait();
  }

private:
  class wait {
  public:
    explicit wait(unsigned& among) noexcept : among_(among) { ++among_; }
    ~wait() { --among_; }
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;

  private:
    unsigned& among_;
  };

  template <class Work>
  static task<> as_task(Work& work) {
    work();
    co_return;
  }

  /// So many polls, and what rests in between count as: a yield as 8 polls, a nap as those between
  /// two looks at the MPI.
  std::uint64_t polls_worth(std::uint64_t polls) const noexcept {
    if (engine_.has_own_thread()) return polls * of_a_yield;
    const engine::counters& rests = engine_.counted();
    return polls + rests.yields * of_a_yield + rests.sleeps * between_looks;
  }
  static constexpr std::uint64_t between_looks = 32;
  static constexpr std::uint64_t of_a_yield = 8;

  void enter() {
    if (many_threads_ && !gate_.try_lock()) {
      entrants_waiting_.fetch_add(1, std::memory_order_relaxed);
      gate_.lock();
      entrants_waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    ++depth_;
  }
  void leave() noexcept {
    --depth_;
    if (many_threads_) gate_.unlock();
  }
  /// Only the outermost entry of a thread waits.
  void let_others_in() {
    if (entrants_waiting_.load(std::memory_order_relaxed) == 0) return;
    leave();
    ::sched_yield();
    enter();
  }

  muster::engine& engine_;
  bool many_threads_;
  std::recursive_mutex gate_;
  unsigned depth_ = 0;    // of the thread that has the gate
  unsigned waiting_ = 0;  // in `until`, of all threads
  std::atomic<unsigned> entrants_waiting_{0};
};

}  // namespace muster::mpi
