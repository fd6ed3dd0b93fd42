#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/progress_source.hpp>
#include <muster/progress/waiter.hpp>
#include <muster/progress/waiter_list.hpp>
#include <muster/progress/waiting.hpp>
#include <muster/progress/wakeup_set.hpp>

namespace muster {

/// Who drives an engine.
enum class progress {
  caller,    ///< whoever waits: progress happens inside `run`, `future::wait` and `future::ready`
  thread,    ///< a thread of the engine's own; operations may be started from any thread
  external,  ///< another event loop, through `poll`, `prepare_to_sleep` and `wakeup_descriptor`
};

/// Another time than the system's. Whoever gives it to an engine drives the engine, too: nothing
/// that runs on it may block.
class virtual_clock {
public:
  virtual clock_time now() const noexcept = 0;
  /// A wait began that ends at `deadline`, if nothing else ends it before.
  virtual void expect(clock_time deadline) noexcept = 0;

protected:
  ~virtual_clock() = default;
};

/// An eventfd that others write to wake a sleeping engine.
class doorbell {
public:
  doorbell();  ///< a new one
  /// None: for an engine that never sleeps.
  static doorbell none() noexcept { return doorbell(-1); }
  explicit doorbell(int descriptor) noexcept : descriptor_(descriptor) {}  ///< takes ownership
  /// The same bell under a descriptor of its own. \throws error `errc::resource`
  static doorbell share(int descriptor);
  doorbell(doorbell&& other) noexcept;
  doorbell& operator=(doorbell&&) = delete;
  ~doorbell();

  int descriptor() const noexcept { return descriptor_; }
  void ring() const noexcept { ring(descriptor_); }
  static void ring(int descriptor) noexcept;
  void drain() const noexcept;
  /// Sleeps until rung or until `timeout` has passed; no timeout: until rung.
  void sleep(std::optional<clock_time> timeout) const noexcept { sleep_on(descriptor_, timeout); }
  /// The same until any descriptor is readable.
  static void sleep_on(int descriptor, std::optional<clock_time> timeout) noexcept;

private:
  int descriptor_;
};

struct engine_options {
  muster::progress progress = muster::progress::caller;
  waiting_policy waiting = waiting_policy::core_of_its_own();
  /// `progress::thread` only: the processors that its thread may use; none: any.
  std::vector<int> processors = {};
  /// Polled, and armed before the engine sleeps; they outlive it.
  std::vector<progress_source*> sources = {};
  bool more_sources = false;  ///< others may be added: its descriptor is one for several already
  /// Not null: instead of the system's; outlives the engine.
  virtual_clock* clock = nullptr;
};

/// Drives any number of suspended coroutines: polls what they wait for, resumes those that are
/// ready, and spins, yields or sleeps when none is.
///
/// Outside `progress::thread` an engine belongs to one thread at a time: all calls but `ring` and
/// `post` come from there. With it, coroutines run on the engine's thread and `start`, `post` and
/// `ring` may be called from anywhere.
class engine {
public:
  explicit engine(engine_options options = {}, doorbell bell = doorbell());
  /// Stops what is still running (each such operation ends with `errc::stopped`).
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Ends all that is running: each such operation throws `errc::stopped`, and so does what was
  /// posted but has not begun. Returns when none is left; nothing may be started afterwards.
  void stop();

  /// Looks once at everything that is waited for. True if some coroutine was resumed.
  bool poll();

  /// Polls until `done()`; spins, yields and sleeps in between as the waiting policy says.
  template <class Done>
  void drive_until(Done done) {
    const frame_pool::binding bound(pool_.get());
    idle_time idle;
    while (!done()) {
      if (poll()) {
        note_found(idle);
        idle = {};
      } else {
        relax(idle);
      }
    }
  }

  /// Ends what was stopped, is past its deadline or waits in vain; `thorough` as in
  /// `waiter::interrupted`. True if some coroutine was resumed.
  bool resume_interrupted(bool thorough);
  /// After something was asked to stop: ends it at once, before what it waits for comes after all.
  /// Until `done()`, or as far as it gets.
  template <class Done>
  void resume_interrupted_until(Done done) {
    while (!done() && resume_interrupted(true)) {
    }
  }

  /// For `progress::external`: true when nothing is ready and the descriptor will become readable
  /// as soon as something may be; false when `poll` should be called again first.
  bool prepare_to_sleep();
  /// Becomes readable when the engine needs `poll`, after `prepare_to_sleep`. `poll` resets it. One
  /// for the doorbell and all sources.
  int wakeup_descriptor() const noexcept { return wakeups_.descriptor(); }
  /// How long a sleeper may sleep at most, because of deadlines, and of sources that nobody tells
  /// of.
  std::optional<clock_time> sleep_limit() const;

  /// Hands a coroutine to the engine, which resumes it in its next poll. Any thread.
  class posted {
  public:
    std::coroutine_handle<> resume;

  private:
    friend class engine;
    posted* next = nullptr;
  };
  void post(posted& entry) noexcept;
  /// Wakes the engine if it sleeps. Any thread.
  void ring() noexcept { bell_.ring(); }

  bool has_own_thread() const noexcept { return has_own_thread_; }
  bool on_own_thread() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }
  clock_time now() const noexcept;
  /// Whether `now` is another time than the system's.
  bool has_virtual_clock() const noexcept { return clock_ != nullptr; }
  const stop_scope& scope() const noexcept { return scope_; }

  /// Of an event loop that drives it, `progress::external`: how what is started there finds it.
  class outside_driver {
  protected:
    outside_driver() = default;
    virtual ~outside_driver() = default;
  };
  /// Null: none that has said so.
  outside_driver* driven_from_outside() const noexcept { return outside_; }
  void be_driven_by(outside_driver* who) noexcept { outside_ = who; }

  /// For waits that would rather look again than suspend: how often, and whether other coroutines
  /// are waiting too, which that would hold up.
  unsigned looks_before_suspending() const noexcept {
    return spins_skipped_ != 0 ? 0 : waiting_.looks_before_suspending;
  }
  const waiting_policy& waiting() const noexcept { return waiting_; }
  unsigned looks_at_other_cores() const noexcept { return waiting_.looks_at_other_cores; }
  bool nothing_else_waits() const noexcept { return asked_.empty(); }
  /// Whether a change of `word` can make some wait ready.
  bool is_concerned_by(const void* word) const noexcept {
    for (const waiter& entry : asked_) {
      const void* const watched = entry.watched();
      if (watched == nullptr || watched == word) return true;
    }
    return false;
  }
  /// What is asked first in the next poll, or null.
  const waiter* first_wait() const noexcept { return asked_.first(); }
  /// Whether one wait alone is left, for ranks of other cores.
  bool awaits_other_cores_only() const noexcept {
    return asked_.size() == 1 && asked_.first()->awaits_other_cores_only();
  }

  /// From now on this is a source, too, until it is removed; only where the options said so. On the
  /// thread that drives the engine, but not from a source.
  /// \throws error `errc::resource`
  void add_source(progress_source& source);
  /// The same, or from any thread where the engine has one of its own: afterwards the source is not
  /// used any more.
  void remove_source(progress_source& source) noexcept;

  /// What is waited for, for messages: one line a wait.
  std::string describe_waits() const;

  /// Operations started with `start` that have not ended; the engine outlives them.
  void operation_began() noexcept { running_.fetch_add(1, std::memory_order_relaxed); }
  void operation_ended() noexcept { running_.fetch_sub(1, std::memory_order_release); }

  struct counters {
    std::uint64_t yields = 0;
    std::uint64_t sleeps = 0;
  };
  const counters& counted() const noexcept { return counters_; }

private:
  friend class waiter;
  struct idle_time {
    unsigned polls = 0;
    clock_time since{0};
  };

  void relax(idle_time& idle);
  /// Something has come that it looked for.
  void note_found(const idle_time& idle) noexcept {
    if (spins_skipped_ != 0) {
      --spins_skipped_;
    } else if (idle.polls != 0) {
      waits_without_spin_ = least_waits_without_spin;
    }
  }
  /// Whether to look again without giving up the core.
  bool spins_on(idle_time& idle) noexcept;
  /// How long to go on looking before a sleep: as the policy says, or longer where sleeps are dear.
  clock_time patience() const noexcept;
  /// Because of its sources.
  clock_time most_sleep() const noexcept;
  void sleep();
  void nap(clock_time waited);
  void wake() noexcept;
  void forget_source(progress_source& source) noexcept;
  bool resume_posted();
  void watch_and_arm() noexcept;
  bool anything_ready() noexcept;
  bool all_still_watch() const noexcept;
  void link(waiter& entry, waiter_list& list) noexcept;
  void resume(waiter& entry);
  /// Those of `list` that end; true if there is one.
  template <class Ends>
  bool resume_each(waiter_list& list, Ends ends);
  template <class See>
  void for_each_wait(See see) const {
    for (const waiter& entry : asked_) see(entry);
    for (const waiter& entry : behind_others_) see(entry);
  }
  void run_thread(std::stop_token stop, std::span<const int> processors);

  struct retirement {
    void operator()(frame_pool* pool) const noexcept { frame_pool::retire(pool); }
  };
  std::unique_ptr<frame_pool, retirement> pool_{new frame_pool};
  bool has_own_thread_;
  waiting_policy waiting_;
  doorbell bell_;
  stop_scope scope_;
  waiter_list asked_;          // at every poll
  waiter_list behind_others_;  // each behind one of these, which tells when it is to be asked
  bool asleep_ = false;
  unsigned busy_polls_ = 0;
  static constexpr unsigned least_waits_without_spin = 16;
  unsigned spins_skipped_ = 0;                              // waits to come that yield at once
  unsigned waits_without_spin_ = least_waits_without_spin;  // after the next spin in vain
  clock_time last_thorough_{0};
  clock_time sleep_cost_{0};  // this thread's own time, a mean of the last ones
  std::atomic<posted*> posted_{nullptr};
  posted* to_resume_ = nullptr;  // of those, in order: the engine may be driven by one of them
  std::vector<progress_source*> sources_;
  wakeup_set wakeups_;
  virtual_clock* clock_;
  outside_driver* outside_ = nullptr;
  std::atomic<std::size_t> running_{0};
  counters counters_;
  std::jthread thread_;
};

}  // namespace muster
