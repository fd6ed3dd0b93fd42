// A job in which somebody is late: as the first argument says, the last rank does something else.
// Ranks that have nothing more to do wait to be ended.

#include <muster/muster.hpp>

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using muster::task;
using muster::team;

constexpr int calls = 3;

[[noreturn]] void wait_to_be_ended() {
  for (;;) ::pause();
}

[[noreturn]] void compute() {
  for (volatile unsigned turns = 0;;) turns = turns + 1;
}

/// So that all have called something.
task<> call_together(team& of) {
  std::array<double, 16> values{};
  for (int i = 0; i < calls; ++i) co_await muster::allreduce(of, values, muster::sum);
}

/// Once the others are in the call that it does not come to.
task<> die(team& of, bool is_last) {
  co_await call_together(of);
  for (std::size_t other = 0; is_last && other + 1 < of.size(); ++other) {
    while (!of.has_begun_next(other)) ::usleep(1000);
  }
  if (is_last) ::raise(SIGKILL);
  std::array<double, 4> values{};
  co_await muster::allreduce(of, values, muster::max);
}

task<> call_without(team& of, bool is_last, void (*instead)()) {
  co_await call_together(of);
  if (is_last) instead();
  std::array<double, 4> values{};
  co_await muster::allreduce(of, values, muster::max);
}

/// The last begins a call that needs it later, too.
task<> begin_and_compute(team& of, bool is_last) {
  co_await call_together(of);
  std::vector<double> values(std::size_t{1} << 20);
  auto begun = muster::start(of.engine(), muster::allreduce(of, values, muster::sum));
  begun.ready();
  if (is_last) compute();
  begun.wait();
}

task<> call_something_else(team& of, bool is_last) {
  co_await call_together(of);
  std::array<double, 4> values{};
  if (is_last) {
    co_await muster::bcast(of, values, 0);
  } else {
    co_await muster::allreduce(of, values, muster::sum);
  }
}

task<> pass_deadline(team& of, bool is_last) {
  co_await call_together(of);
  if (is_last) wait_to_be_ended();
  std::array<double, 4> values{};
  co_await muster::with_timeout(std::chrono::milliseconds(300),
                                muster::allreduce(of, values, muster::sum));
}

/// Each waits in another team: two teams of all ranks, in two orders.
task<> cross(team& of, bool is_last) {
  const std::unique_ptr<team> one = co_await muster::duplicate(of);
  const std::unique_ptr<team> other = co_await muster::duplicate(of);
  team& first = is_last ? *other : *one;
  team& second = is_last ? *one : *other;
  co_await muster::barrier(first);
  co_await muster::barrier(second);
}

task<> run(std::string_view what, team& of) {
  const bool is_last = of.rank() + 1 == of.size();
  if (what == "late") return call_without(of, is_last, wait_to_be_ended);
  if (what == "stops") return call_without(of, is_last, [] { ::raise(SIGSTOP); });
  if (what == "dies") return die(of, is_last);
  if (what == "computes") return begin_and_compute(of, is_last);
  if (what == "differs") return call_something_else(of, is_last);
  if (what == "deadline") return pass_deadline(of, is_last);
  if (what == "crosses") return cross(of, is_last);
  return call_together(of);
}

extern "C" void note_signal(int) { static_cast<void>(::write(1, "handled\n", 8)); }

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (argc > 2 && argv[2] == std::string_view("handles")) ::signal(SIGUSR1, note_signal);
  try {
    if (what == "threads") {
      muster::run_threads(3, [](team& of) { muster::start(of.engine(), run("late", of)).wait(); });
      return 0;
    }
    muster::world world;
    world.run(run(what, world.team()));
  } catch (const std::exception& why) {
    std::printf("%s\n", why.what());
    return 1;
  }
  return 0;
}
