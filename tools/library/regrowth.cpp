#include "tools/library/regrowth.hpp"

#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/signals.hpp>
#include <muster/progress/waiter.hpp>

#include "tools/library/joined_job.hpp"
#include "transports/cluster/bootstrap.hpp"

namespace muster {
namespace {

/// One that is made by a thread of its own, for a coroutine to wait for.
class attempt_elsewhere final : public waiter {
public:
  /// \param wakes      when it is over
  /// \param processors that its thread may use, by which the others learn where this rank is
  attempt_elsewhere(const meeting& at, engine& wakes, const cpu_set_t& processors) : attempt_(at) {
    const all_signals_blocked meanwhile;  // they are for the program's own threads
    thread_ = std::jthread([this, &wakes, processors] {
      ::sched_setaffinity(0, sizeof processors, &processors);
      try {
        met_.emplace(attempt_.run());
      } catch (...) {
        failure_ = std::current_exception();
      }
      // release: whoever sees it takes what was met.
      is_over_.store(true, std::memory_order_release);
      wakes.ring();
    });
  }
  ~attempt_elsewhere() { end(); }

  /// What came of it; nothing: it failed, which `rethrow_failure` throws. Ends it if need be.
  std::optional<cluster::bootstrapped>& end() {
    if (thread_.joinable()) {
      attempt_.abandon();
      thread_.join();
    }
    return met_;
  }
  void rethrow_failure() const { std::rethrow_exception(failure_); }

  // acquire: pairs with the release of the thread.
  bool ready() noexcept override { return is_over_.load(std::memory_order_acquire); }
  bool interrupted(clock_time now, bool /*thorough*/) noexcept override {
    return !ready() && !attempt_.is_bound() &&
           interrupted_by_scope(now, [] { return std::string("grow "); }, no_rank);
  }
  std::string describe() const override { return "all ranks of the job, to make it anew"; }

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(*self.promise().place.where, self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  reunion_attempt attempt_;
  std::optional<cluster::bootstrapped> met_;
  std::exception_ptr failure_;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_;
};

/// Of one rank, which has one place at a meeting.
class only_call {
public:
  explicit only_call(bool& is_under_way) : is_under_way_(is_under_way) {
    if (is_under_way) {
      throw error(errc::invalid_argument,
                  "grow: another call of this rank is under way; expected one at a time");
    }
    is_under_way_ = true;
  }
  ~only_call() { is_under_way_ = false; }
  only_call(const only_call&) = delete;
  only_call& operator=(const only_call&) = delete;

private:
  bool& is_under_way_;
};

}  // namespace

regrowth_by_launcher::regrowth_by_launcher(meeting at, const world_options& options)
    : at_(std::move(at)), options_(options) {
  ::sched_getaffinity(0, sizeof processors_, &processors_);
}

task<std::unique_ptr<team>> regrowth_by_launcher::grow(team& of) {
  const only_call alone(is_growing_);
  attempt_elsewhere all(at_, of.engine(), processors_);
  std::exception_ptr interrupted;
  try {
    co_await all;
  } catch (...) {
    interrupted = std::current_exception();
  }
  // Once all have come the others count on this rank, whatever its deadline.
  std::optional<cluster::bootstrapped>& met = all.end();
  if (!met && interrupted) std::rethrow_exception(interrupted);
  if (!met) all.rethrow_failure();
  const auto joined = std::make_shared<joined_job>(
      std::move(*met), rank_options{.of_world = options_, .driven_by = &of.engine()});
  joined->watch();
  std::unique_ptr<team> whole = joined->rank().parts().release_team();
  whole->keep(joined);
  whole->grow_by(this);
  co_return whole;
}

}  // namespace muster
