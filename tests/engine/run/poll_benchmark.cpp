// What a poll takes of a rank that waits for all others, of whom only a few have said anything, in
// nanoseconds: it should not depend on how many the others are.
//
//   poll_benchmark [POLLS]

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <muster/muster.hpp>

#include "transports/shm/fabric.hpp"
#include "transports/shm/job.hpp"

namespace muster {
namespace {

using clock = std::chrono::steady_clock;

/// Each on a node of its own, so that all goes through links.
shm::job job_of(std::size_t ranks) {
  shm::job_options options;
  options.places.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i) options.places[i].node = static_cast<std::uint32_t>(i);
  options.one_process = true;
  options.arena_bytes = 1 << 20;
  options.boards_bytes = 1 << 20;
  return shm::job::create(options);
}

struct rank {
  shm::fabric reach;
  engine drives;
  muster::team team;

  rank(const shm::job& job, std::size_t number)
      : reach(job, number),
        drives({.sources = {reach.source()}}),
        team(drives, reach, job.shape(), number, default_algorithms(), job.machine()) {
    team.choose(collective::alltoall, "pap_direct");
  }
};

/// An alltoall in which some ranks take part; the others are late.
double nanoseconds_of_poll(std::size_t ranks, std::size_t here, std::uint64_t polls) {
  const shm::job job = job_of(ranks);
  const std::vector<double> sent(ranks);
  std::vector<double> received(ranks);
  std::vector<std::unique_ptr<rank>> all;
  std::vector<future<void>> operations;
  for (std::size_t i = 0; i < here; ++i) {
    all.push_back(std::make_unique<rank>(job, i));
    operations.push_back(start(alltoall(all[i]->team, sent, received)));
  }
  for (int i = 0; i < 100; ++i) {
    for (const auto& each : all) each->drives.poll();
  }
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto begin = clock::now();
    for (std::uint64_t i = 0; i < polls; ++i) all[0]->drives.poll();
    const std::chrono::duration<double, std::nano> took = clock::now() - begin;
    rounds.push_back(took.count() / static_cast<double>(polls));
  }
  for (const auto& each : all) each->drives.stop();
  std::ranges::nth_element(rounds, rounds.begin() + 4);
  return rounds[4];
}

int run(std::uint64_t polls) {
  std::printf("%8s %18s %18s\n", "ranks", "1 of them here", "8 of them here");
  for (const std::size_t ranks : {16, 128, 1024}) {
    std::printf("%8zu %15.1f ns %15.1f ns\n", ranks, nanoseconds_of_poll(ranks, 1, polls),
                nanoseconds_of_poll(ranks, 8, polls));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main(int count, char** arguments) {
  const std::uint64_t polls = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000;
  if (polls == 0) {
    std::fprintf(stderr, "usage: poll_benchmark [POLLS]\n");
    return 2;
  }
  return muster::run(polls);
}
