// A rank of a job in which processes are killed at random moments, of a round, of growing, and of
// joining, until all have come far enough.
//
// usage: regrowth_random SEED FILE    (FILE: what all processes of the job share, empty at first)

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/random.hpp>
#include <muster/muster.hpp>

namespace {

using namespace std::chrono_literals;

constexpr int rounds = 12;
constexpr int last_dangerous = 8;  // all have come to the next one before anybody ends

/// Which of the job's processes this one is, in the order in which they began.
long count_in(const char* file) {
  const muster::descriptor counted(::open(file, O_WRONLY | O_APPEND));
  if (::write(counted.get(), ".", 1) != 1) std::abort();
  return ::lseek(counted.get(), 0, SEEK_CUR);
}

void die_after(std::chrono::microseconds time) {
  const auto us = time.count();
  const itimerval death{.it_interval = {}, .it_value = {us / 1'000'000, us % 1'000'000}};
  ::setitimer(ITIMER_REAL, &death, nullptr);
}

/// Half of all processes die, some before they have joined.
void draw_lot(std::uint64_t seed, long process) {
  std::mt19937_64 random(muster::mix_bits(seed ^ static_cast<std::uint64_t>(process)));
  if (random() % 2 == 0) die_after(std::chrono::microseconds(1 + random() % 150'000));
}

muster::task<> work(muster::team& all, int round) {
  const std::size_t block = std::size_t{1} << (round + 4);
  std::vector<int> sent(all.size() * block, static_cast<int>(all.rank()) + round);
  std::vector<int> received(sent.size());
  co_await muster::alltoall(all, std::span<const int>(sent), std::span(received));
  for (std::size_t from = 0; from < all.size(); ++from) {
    if (received[from * block + block / 2] != static_cast<int>(from) + round) std::abort();
  }
}

muster::task<> do_rounds(muster::team& all, int& round) {
  round = co_await muster::allreduce(all, round, muster::max);
  for (; round < rounds; ++round) {
    if (round > last_dangerous) die_after(0us);
    std::this_thread::sleep_for(5ms);
    co_await work(all, round);
  }
}

muster::task<> program(muster::team& first) {
  std::unique_ptr<muster::team> grown;
  for (int round = 0; round < rounds;) {
    bool failed = false;
    try {
      co_await do_rounds(grown ? *grown : first, round);
    } catch (const muster::error&) {
      failed = true;
    }
    if (failed) grown = co_await muster::grow(grown ? *grown : first);
  }
  std::printf("well\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  draw_lot(std::strtoull(argv[1], nullptr, 10), count_in(argv[2]));
  std::unique_ptr<muster::world> world = muster::world::rejoin();
  if (!world) world = std::make_unique<muster::world>();
  world->run(program(world->team()));
} catch (const muster::error& why) {
  std::fprintf(stderr, "ended: %s\n", why.text().c_str());
  return 3;
}
