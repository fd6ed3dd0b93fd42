// What coroutines cost: create, await, resume, in nanoseconds; the median of several rounds.
//
//   benchmark [ITERATIONS]

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include <muster/coro/task.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/waiter.hpp>

namespace muster {
namespace {

using clock = std::chrono::steady_clock;

// Not inlined, or the compiler leaves out the frame.
[[gnu::noinline]] task<std::uint64_t> leaf(std::uint64_t value) { co_return value; }

task<> create_only(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) const task<std::uint64_t> dropped = leaf(i);
  co_return;
}

task<> create_and_await(std::uint64_t times) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < times; ++i) total += co_await leaf(i);
  if (total != times * (times - 1) / 2) throw std::logic_error("wrong sum");
}

task<std::uint64_t> nested(unsigned depth) {
  if (depth == 0) co_return 1;
  co_return co_await nested(depth - 1);
}

task<> await_nested(std::uint64_t times) {
  constexpr unsigned depth = 10;
  for (std::uint64_t i = 0; i < times; i += depth) co_await nested(depth - 1);
}

/// Ready at the first poll after its suspension.
class next_poll final : public waiter {
public:
  bool ready() noexcept override { return true; }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(*self.promise().place.where, self);
  }
  void await_resume() { rethrow_interruption(); }
};

task<> suspend_and_resume(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) co_await next_poll();
}

task<> join_two(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    auto both = when_all(leaf(1), leaf(2));
    co_await std::move(both);
  }
}

double round_ns(const std::function<task<>(std::uint64_t)>& work, std::uint64_t times) {
  engine here;
  start(here, work(times / 10 + 1)).wait();
  const auto before = clock::now();
  start(here, work(times)).wait();
  const std::chrono::duration<double, std::nano> took = clock::now() - before;
  return took.count() / static_cast<double>(times);
}

double start_ns(std::uint64_t times) {
  engine here;
  const auto before = clock::now();
  for (std::uint64_t i = 0; i < times; ++i) start(here, leaf(i)).wait();
  const std::chrono::duration<double, std::nano> took = clock::now() - before;
  return took.count() / static_cast<double>(times);
}

template <class Round>
void report(const char* what, Round round) {
  std::vector<double> rounds;
  for (int i = 0; i < 7; ++i) rounds.push_back(round());
  std::ranges::sort(rounds);
  std::printf("%-34s %8.1f ns  (%.1f to %.1f)\n", what, rounds[3], rounds.front(), rounds.back());
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  using namespace muster;
  const std::uint64_t times = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  report("create and destroy a task", [=] { return round_ns(create_only, times); });
  report("create and await a task", [=] { return round_ns(create_and_await, times); });
  report("a level of a ten-fold nested await", [=] { return round_ns(await_nested, times); });
  report("suspend, poll and resume", [=] { return round_ns(suspend_and_resume, times); });
  report("when_all of two tasks", [=] { return round_ns(join_two, times); });
  report("start a task and wait", [=] { return start_ns(times); });
}
