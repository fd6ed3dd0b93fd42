// A rank that makes calls, and then says whether Muster has counted what libverbs_count.so has,
// which is to be preloaded.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <muster/muster.hpp>
#include <vector>

#include "tools/command/bench/posted.hpp"

namespace {

/// So many bytes from each to each.
muster::task<> exchange(muster::team& team, std::size_t bytes, std::size_t calls) {
  const std::vector<std::byte> send(bytes * team.size());
  std::vector<std::byte> recv(bytes * team.size());
  for (std::size_t i = 0; i < calls; ++i) co_await muster::alltoall(team, send, recv);
}

bool agree(const char* what, std::uint64_t ours, std::uint64_t counted) {
  std::printf("%s: %llu, counted %llu\n", what, static_cast<unsigned long long>(ours),
              static_cast<unsigned long long>(counted));
  return ours == counted && ours != 0;
}

}  // namespace

int main() {
  try {
    muster::world world;
    muster::team& team = world.team();
    world.run(exchange(team, 8, 300));
    world.run(exchange(team, std::size_t{100} << 10, 20));
    const muster::wire::traffic ours = team.traffic();
    const muster::bench::posted counted = muster::bench::posted_so_far();
    bool all = agree("sends", ours.requests, counted.sends);
    all &= agree("doorbells", ours.doorbells, counted.doorbells);
    all &= agree("bytes", ours.bytes, counted.bytes);
    all &= agree("queue pairs", ours.queue_pairs, counted.queue_pairs);
    return all ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
