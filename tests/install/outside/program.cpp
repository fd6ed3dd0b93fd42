// What has to go between a program and the library, and between the program's halves, whoever has
// compiled them. Run by 4 ranks; says "4 ranks, right".

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <source_location>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/install/outside/half.hpp"

using namespace std::chrono_literals;

namespace {

// By thread: the library's own may allocate, too.
constinit thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

void require(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "line %u does not hold\n", where.line());
  std::exit(1);
}

/// What `run` throws as `Exception`; null: something else, or nothing.
template <class Exception, class Run>
std::unique_ptr<Exception> thrown_by(Run run) {
  try {
    run();
  } catch (const Exception& why) {
    return std::make_unique<Exception>(why);
  } catch (...) {
  }
  return nullptr;
}

void exceptions(muster::world& world) {
  muster::team& team = world.team();
  const auto by_library =
      thrown_by<muster::error>([&] { world.run(outside::fail_by_library(team)); });
  require(by_library && by_library->code() == muster::errc::invalid_argument);
  require(by_library->code() == std::errc::invalid_argument);
  require(by_library->code().category() == muster::muster_category());
  require(std::string(by_library->what()).find("bcast") != std::string::npos);
  const auto as_standard =
      thrown_by<std::system_error>([&] { world.run(outside::fail_by_library(team)); });
  require(as_standard && as_standard->code() == muster::errc::invalid_argument);
  const auto by_half =
      thrown_by<outside::half_failed>([&] { world.run(outside::fail_by_half(team)); });
  require(by_half && by_half->what() == "rank " + std::to_string(team.rank()));
  require(outside::stopped() == muster::errc::stopped);
  require(outside::stopped() == std::errc::operation_canceled);
  require(outside::stopped().category() == muster::muster_category());
}

void functions() {
  const auto failed =
      thrown_by<outside::half_failed>([] { muster::run_threads(3, outside::for_threads()); });
  require(failed && std::string(failed->what()) == "rank 1");
}

muster::task<> results(muster::team& team) {
  const auto ranks = static_cast<int>(team.size()), rank = static_cast<int>(team.rank());
  const int total = co_await outside::sum(team, rank);
  require(total == ranks * (ranks - 1) / 2);
  const outside::pair extremes = co_await outside::extremes(team, rank);
  require(extremes.low == 0 && extremes.high == ranks - 1);

  auto begun = muster::start(outside::sum(team, 1));
  auto doubled = std::move(begun).then([](int sum) { return 2 * sum; });
  const int twice = co_await doubled;
  require(twice == 2 * ranks);

  std::vector<muster::task<int>> several;
  for (int i = 0; i < 3; ++i) several.push_back(muster::allreduce(team, i, muster::sum));
  const std::vector<int> sums = co_await muster::when_all(std::move(several));
  require(sums == std::vector<int>{0, ranks, 2 * ranks});

  const std::vector<int> mine(2, rank);
  std::vector<int> all(2 * team.size());
  auto gathered = muster::allgather(team, mine, all);
  co_await muster::by("around", std::move(gathered));
  require(all.front() == 0 && all.back() == ranks - 1);

  muster::scope scope(team.engine());
  scope.spawn(outside::fail_by_half(team));
  bool failed = false;
  try {
    co_await scope.join();
  } catch (const outside::half_failed&) {
    failed = true;
  }
  require(failed);
}

muster::task<int> one() { co_return 1; }

/// The program's coroutines have their frames from the library's pool.
muster::task<> frames() {
  int sum = co_await one();
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) sum += co_await one();
  require(sum == 101 && allocations == before);
}

/// Ends calls half-way: the library destroys the halves' frames.
muster::task<> stops(muster::team& team) {
  const std::unique_ptr<muster::team> copy = co_await muster::duplicate(team);
  if (team.rank() == 0) {
    auto never = muster::start(outside::sum(*copy, 1));
    never.request_stop();
    std::error_code code;
    try {
      co_await never;
    } catch (const muster::error& why) {
      code = why.code();
    }
    require(code == muster::errc::stopped);
  }
  co_await muster::barrier(team);
}

}  // namespace

int main() {
  require(outside::sizes() == outside::sizes_in_half());
  std::vector<muster::algorithm> rows(muster::default_algorithms().begin(),
                                      muster::default_algorithms().end());
  rows.push_back(outside::around);
  muster::world world({.algorithms = rows});
  exceptions(world);
  functions();
  world.run(results(world.team()));
  world.run(frames());
  world.run(stops(world.team()));
  if (world.team().rank() == 0) std::printf("%zu ranks, right\n", world.team().size());
}
