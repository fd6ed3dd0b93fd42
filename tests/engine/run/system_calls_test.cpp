// Short operations make no system call where every rank has its core: the kernel is asked to hand
// every system call of the ranks to a signal handler here (syscall user dispatch).

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <muster/muster.hpp>

#include "tests/engine/run/calls.hpp"
#include "tools/conformance/watchdog.hpp"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

namespace muster::testing {
namespace {

enum selector : char { allow = 0, block = 1 };  // as the kernel has them

// What the kernel reads before each system call of this thread, and what the handler can reach.
constinit thread_local volatile char dispatch = allow;
constinit thread_local volatile bool called = false;

/// Notes the call and lets it happen: the instruction is run again, with the trap switched off.
void on_system_call(int, siginfo_t*, void* context) {
  called = true;
  dispatch = allow;
#if defined(__x86_64__)
  constexpr int length_of_syscall_instruction = 2;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] -= length_of_syscall_instruction;
#endif
}

/// Traps the system calls of this thread for as long as it lives, while `dispatch` says so.
class trap {
public:
  trap() {
    struct sigaction action{};
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
    works_ = ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &dispatch) == 0;
  }
  ~trap() { ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0); }
  trap(const trap&) = delete;
  trap& operator=(const trap&) = delete;

  bool works() const noexcept { return works_; }

private:
  bool works_ = false;
};

/// Whether `work` made a system call on this thread.
template <class Work>
bool makes_system_call(Work work) {
  called = false;
  dispatch = block;
  work();
  dispatch = allow;
  return called;
}

std::vector<int> processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> result;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<unsigned>(i), &set)) result.push_back(i);
  }
  return result;
}

void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(processor), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin");
}

constexpr int batches = 400;
constexpr int operations = 200;

task<> run_batch(team& of, collective what, buffers& memory) {
  const roots at{.gather = 1};
  for (int i = 0; i < operations; ++i) co_await call(of, what, memory, at);
}

/// How many batches of this rank made no system call.
int quiet_batches(team& of, collective what) {
  buffers memory(of.size(), 4);
  int quiet = 0;
  for (int i = 0; i < batches; ++i) {
    // Meet first, so that none of the batch waits for a rank that is late for it.
    start(barrier(of)).wait();
    if (!makes_system_call([&] { start(run_batch(of, what, memory)).wait(); })) ++quiet;
  }
  return quiet;
}

TEST_CASE("the trap sees system calls, and lets them happen") {
  const trap armed;
  if (!armed.works()) return;
  CHECK(makes_system_call([] { ::sched_yield(); }));
  CHECK_FALSE(makes_system_call([] {}));
  pid_t parent = 0;
  CHECK(makes_system_call([&parent] { parent = ::getppid(); }));
  CHECK(parent == ::getppid());
}

TEST_CASE("two ranks with a core each") {
  const watchdog alive("system calls");
  const std::vector<int> available = processors();
  if (available.size() < 2) {
    MESSAGE("skipped: fewer than two processors");
    return;
  }
  std::array<std::array<int, collectives>, 2> quiet{};
  bool trapped = true;
  run_threads(2, [&](team& of) {
    pin_to(available[of.rank()]);
    const trap armed;
    if (!armed.works()) {
      trapped = false;
      return;
    }
    for (std::size_t i = 0; i < collectives; ++i) {
      quiet[of.rank()][i] = quiet_batches(of, static_cast<collective>(i));
    }
  });
  if (!trapped) {
    MESSAGE("skipped: this kernel has no syscall user dispatch");
    return;
  }
  // A rank that loses its core for a while makes the other yield; most batches see nothing of that.
  for (std::size_t i = 0; i < collectives; ++i) {
    INFO(name(static_cast<collective>(i)), ": ", quiet[0][i], " and ", quiet[1][i], " of ", batches,
         " batches of ", operations, " operations made no system call");
    CHECK(quiet[0][i] > 0);
    CHECK(quiet[1][i] > 0);
  }
}

}  // namespace
}  // namespace muster::testing
