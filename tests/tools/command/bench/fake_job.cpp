// A launcher with ranks for the tests of jobs: `fake_job RANKS CONDUCT`, where the last rank may
// behave badly. Leaves the process ids of its ranks in $TMPDIR/ranks.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/command/bench/worker.hpp"

namespace {

using namespace muster::bench;

/// As MPI libraries do: a segment that only an orderly end would remove.
void leave_segment() {
  const std::string name = "/muster-fake-job-" + std::to_string(getpid());
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) std::abort();
  if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) std::abort();
}

[[noreturn]] void hang() {
  signal(SIGTERM, SIG_IGN);
  while (true) pause();
}

int serve_as(int rank, int ranks, const std::string& conduct) {
  const bool bad = rank == ranks - 1;
  if (bad && conduct == "absent") return 3;
  if (bad && conduct == "stray") setsid();
  if (bad && conduct == "segment") leave_segment();
  hello introduction;
  introduction.rank = bad && conduct == "twin" ? 0 : rank;
  introduction.ranks = bad && conduct == "stranger" ? 77 : ranks;
  introduction.version = std::string_view("fake 1.0");
  auto channel = coordinator_channel::connect(introduction);
  while (const auto job = channel.next_order()) {
    if (bad && conduct == "die") _exit(9);
    if (bad && (conduct == "hang" || conduct == "stray" || conduct == "segment")) hang();
    answer result;
    result.mean_us = 10.0 * (rank + 1);
    result.period_us = result.mean_us + 1;
    result.verified = !(bad && conduct == "wrong");
    result.algorithm = std::string_view("fake");
    if (bad && conduct == "complain") result.error = std::string_view("no such thing");
    if (conduct == "refuse") result.error = std::string_view("no such algorithm");
    result.refused = conduct == "refuse";
    channel.reply(result);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int ranks = std::atoi(argv[1]);
  const std::string list = std::string(std::getenv("TMPDIR")) + "/ranks";
  std::FILE* const file = std::fopen(list.c_str(), "w");
  if (file == nullptr) return 2;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t id = fork();
    if (id == 0) {
      std::fclose(file);
      return serve_as(rank, ranks, argv[2]);
    }
    std::fprintf(file, "%d\n", static_cast<int>(id));
    std::fflush(file);
  }
  std::fclose(file);
  std::puts("fake_job is up");
  std::fflush(stdout);
  int worst = 0;
  for (int status = 0; wait(&status) > 0;) worst = worst != 0 ? worst : WEXITSTATUS(status);
  return worst;
}
