// One rank of a job of processes: a reduced sweep, and a line and a failing exit status where
// anything is wrong. Started by `muster run`.

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/findings.hpp"
#include "tools/conformance/neighbors.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

// All ranks must make the same calls, so a seed comes from rank 0.
std::uint64_t agreed_seed(team& of) {
  std::uint64_t seed[1] = {run_seed()};
  start(bcast(of, seed, 0)).wait();
  return seed[0];
}

std::vector<spec> sweep_calls(std::size_t ranks, std::uint64_t seed) {
  std::vector<spec> calls;
  for (const std::size_t count : {0, 1, 7, 8, 64, 4095, 65536}) {
    append_every_collective(calls, ranks, count, datatype::byte, datatype::float64, sum);
  }
  give_seeds(calls, seed);
  return calls;
}

std::vector<spec> very_long_calls(std::size_t ranks, std::uint64_t seed) {
  constexpr std::size_t count = (std::size_t{1} << 20) + 3;
  std::vector<spec> calls;
  append_every_collective(calls, ranks, count, datatype::byte, datatype::uint8, max);
  give_seeds(calls, seed + 1);
  return calls;
}

/// The same on teams made from this one, which come and go.
void run_on_parts(team& of, std::uint64_t seed, findings& found) {
  const conduct how{.in_flight = 10, .unpunctual = true, .seed = seed};
  std::vector<std::unique_ptr<team>> kept;
  for (int i = 0; i < 12; ++i) {
    const int color = static_cast<int>(of.rank()) % (1 + i % 3);
    kept.push_back(start(split(of, color, -static_cast<int>(of.rank()))).wait());
    make_calls(*kept.back(), random_calls(seed + 2, kept.back()->size(), 30, 3000), how, found);
    // Ranks drop them in orders of their own.
    if (i % 3 == 2) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(of.rank() % kept.size()));
  }
}

void run_neighbors(team& of, std::uint64_t seed, findings& found) {
  const lateness pause = [](random_stream& random) -> task<> {
    if (random.one_in(4)) std::this_thread::yield();
    co_return;
  };
  const neighbor_calls short_ones{
      .seed = seed, .calls = 200, .in_flight = 7, .largest = 3000, .unpunctual = true};
  start(of.engine(), make_neighbor_calls(of, short_ones, found, pause)).wait();
  const neighbor_calls long_ones{.seed = seed, .calls = 8, .in_flight = 2, .largest = 200'000};
  start(of.engine(), make_neighbor_calls(of, long_ones, found, pause)).wait();
}

void run_all(team& of, std::uint64_t seed, findings& found) {
  run_neighbors(of, seed + 3, found);
  make_calls(of, sweep_calls(of.size(), seed), {}, found);
  conduct how{.in_flight = 20, .unpunctual = true, .seed = seed};
  make_calls(of, random_calls(seed, of.size(), 300, 3000), how, found);
  how.buffers = memory::mixed;
  make_calls(of, random_calls(seed + 1, of.size(), 300, 3000), how, found);
  run_on_parts(of, seed, found);
  if (of.size() <= 4) make_calls(of, very_long_calls(of.size(), seed), {}, found);
}

int run() {
  world here;
  const std::uint64_t seed = agreed_seed(here.team());
  findings found;
  run_all(here.team(), seed, found);
  const std::string wrong = found.take();
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "replay with MUSTER_TEST_SEED=%llu\n%s",
               static_cast<unsigned long long>(seed), wrong.c_str());
  return 1;
}

}  // namespace
}  // namespace muster::testing

int main() {
  try {
    return muster::testing::run();
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 2;
  }
}
