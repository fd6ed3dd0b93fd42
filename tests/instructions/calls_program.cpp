// Calls of rank 1 of two, whose peer is there already, each counted by callgrind.

#include <array>
#include <atomic>
#include <span>
#include <thread>

#include <muster/muster.hpp>

#include "tests/instructions/counted.hpp"

namespace muster::testing {
namespace {

/// How many calls rank 0 has begun, and how many rank 1 has ended.
struct steps {
  std::atomic<int> there{0};
  std::atomic<int> ended{0};
};

void wait_for(const std::atomic<int>& counter, int value) {
  while (counter.load() < value) std::this_thread::yield();
}

template <class Run>
void arrive_first(team& on, Run run, steps& at) {
  for (int i = 0; i < calls_of_a_kind; ++i) {
    auto begun = start(on.engine(), run());
    begun.ready();
    const int so_far = ++at.there;
    begun.wait();
    wait_for(at.ended, so_far);
  }
}

template <class Run>
task<> follow(const char* name, Run run, steps& at) {
  for (int i = 0; i < calls_of_a_kind; ++i) {
    wait_for(at.there, at.ended.load() + 1);
    {
      const counted here(name, i);
      co_await run();
    }
    ++at.ended;
  }
}

template <class Run>
void count(team& on, const char* name, Run run, steps& at) {
  if (on.rank() == 0) {
    arrive_first(on, run, at);
  } else {
    start(on.engine(), follow(name, run, at)).wait();
  }
}

/// \param call what both ranks await, again and again
template <class Call>
void count_both(team& on, const char* name, const char* name_as_plan, Call call, steps& at) {
  count(on, name, call, at);
  plan kept(call());
  count(on, name_as_plan, [&] { return kept.run(); }, at);
}

void count_all(team& on, steps& at) {
  std::array<double, 1> data = {1};
  count_both(on, "barrier", "barrier, planned", [&] { return barrier(on); }, at);
  count_both(on, "bcast", "bcast, planned", [&] { return bcast(on, data, 0); }, at);
  count_both(on, "allreduce", "allreduce, planned", [&] { return allreduce(on, data, max); }, at);
}

}  // namespace
}  // namespace muster::testing

int main() {
  muster::testing::steps at;
  muster::run_threads(2, [&](muster::team& on) { muster::testing::count_all(on, at); },
                      {.share_address_space = false});
}
