#include "tools/command/measure/switches.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <muster/coro/task.hpp>
#include <muster/progress/affinity.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>

#include "tools/command/measure/stopwatch.hpp"

namespace muster::measure {
namespace {

/// What the processes of a measurement share.
struct meeting {
  std::atomic<int> there;
  std::atomic<int> over;
};

/// What a rank does that waits: it looks, and gives its core up.
class waiting_rank {
public:
  /// Until `over` says so.
  template <class Over>
  std::uint64_t wait_until(Over over) {
    const std::uint64_t before = engine_.counted().yields;
    auto waiting = start(engine_, wait_for_nothing());
    engine_.drive_until(over);
    engine_.stop();
    return engine_.counted().yields - before;
  }

private:
  class nothing final : public waiter {
  public:
    bool ready() noexcept override { return false; }
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      suspend(*self.promise().place.where, self);
    }
    void await_resume() { rethrow_interruption(); }
  };
  static task<> wait_for_nothing() { co_await nothing(); }

  static waiting_policy never_asleep() {
    waiting_policy policy = waiting_policy::cores_shared();
    policy.when_idle = idling::looks_on;
    return policy;
  }
  muster::engine engine_{{.waiting = never_asleep()}};
};

/// Processes that share one processor with this one and wait, as ranks do.
class yielding_processes {
public:
  yielding_processes(meeting& at, int count) : meeting_(at) {
    at.there = 0;
    at.over = 0;
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) yield_until_over(at);
      if (child > 0) children_.push_back(child);
    }
    while (at.there.load() < static_cast<int>(children_.size())) ::sched_yield();
  }
  ~yielding_processes() {
    meeting_.over = 1;
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  yielding_processes(const yielding_processes&) = delete;
  yielding_processes& operator=(const yielding_processes&) = delete;

  std::size_t count() const noexcept { return children_.size(); }

private:
  [[noreturn]] static void yield_until_over(meeting& at) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    at.there.fetch_add(1);
    waiting_rank().wait_until([&at] { return at.over.load() != 0; });
    ::_exit(0);
  }

  meeting& meeting_;
  std::vector<pid_t> children_;
};

/// From ringing a sleeper's doorbell until it answers, there and back, halved.
double wake_ns(int ringer, int sleeper) {
  const doorbell there;
  const doorbell back;
  constexpr int rounds = 200;
  const std::jthread other([&] {
    const bound_for_now here(sleeper);
    for (int i = 0; i < rounds; ++i) {
      there.sleep(std::nullopt);
      there.drain();
      back.ring();
    }
  });
  const bound_for_now here(ringer);
  std::vector<double> each;
  for (int i = 0; i < rounds; ++i) {
    const stopwatch watch;
    there.ring();
    back.sleep(std::nullopt);
    each.push_back(watch.ns() / 2);
    back.drain();
  }
  return bench::median(each);
}

}  // namespace

double switch_ns(int cpu, int others) {
  void* const memory =
      ::mmap(nullptr, sizeof(meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  double result = 0;
  {
    const bound_for_now here(cpu);
    const yielding_processes those(*new (memory) meeting{}, others);
    std::vector<double> rounds;
    for (int i = 0; i < 15; ++i) {
      constexpr double sample_ns = 500'000;
      const stopwatch watch;
      const auto yields = waiting_rank().wait_until([&watch] { return watch.ns() > sample_ns; });
      rounds.push_back(watch.ns() / static_cast<double>(std::max<std::uint64_t>(yields, 1)));
    }
    result = bench::median(rounds) / static_cast<double>(those.count() + 1);
  }
  ::munmap(memory, sizeof(meeting));
  return result;
}

void switches(sim::model& result, std::span<const int> cpus) {
  result.core.switch_ns = switch_ns(cpus.front(), 1);
  result.core.crowded_switch_ns = switch_ns(cpus.front(), 7);
  result.core.wake_ns = wake_ns(cpus.front(), cpus.back());
  const doorbell bell;
  result.core.system_call_ns = median_ns(21, 100, [&] { bell.ring(); });
}

}  // namespace muster::measure
