// Real processes that make random calls of every kind, job after job, until time is up or one goes
// wrong. This program starts the jobs, as `muster run` does, and is each of their ranks as well.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/soak/job.hpp"
#include "tests/soak/rank.hpp"
#include "tests/support/seconds.hpp"
#include "tools/command/run/launch.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Whether it ended well.
bool run_job(const soak_job& job, bool with_deadlines) {
  launch::options what;
  what.ranks = job.ranks;
  what.nodes = job.nodes;
  what.kernel_copies_from = job.kernel_copies_from;
  what.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "--rank-of",
                  std::to_string(job.seed)};
  if (!with_deadlines) what.command.emplace_back("--without-deadlines");
  return launch::run(what) == 0;
}

/// The same, and again where the first try may have ended early.
bool run_whole(const soak_job& job) {
  const bool well = (!job.limit || run_job(job, true)) && run_job(job, false);
  if (!well) std::printf("WRONG in %s\n%s\n", describe(job).c_str(), how_to_replay(job).c_str());
  std::fflush(stdout);
  return well;
}

class soak {
public:
  soak(std::uint64_t seed, clock::duration budget) : seed_(seed), budget_(budget) {}

  bool run() {
    std::printf("soaking from seed %llu\n", static_cast<unsigned long long>(seed_));
    std::fflush(stdout);
    clock::duration next_report = 5s;
    for (std::uint64_t i = 0; elapsed() < budget_; ++i) {
      const soak_job job = make_job(derive(seed_, i));
      if (!run_whole(job)) return false;
      ++jobs_;
      calls_ += calls_of(job);
      if (elapsed() < next_report) continue;
      report(job);
      next_report = elapsed() + std::max<clock::duration>(5s, budget_ / 60);
    }
    std::printf("%zu jobs, %zu calls: found nothing wrong\n", jobs_, calls_);
    return true;
  }

private:
  clock::duration elapsed() const { return clock::now() - begin_; }

  void report(const soak_job& last) const {
    std::printf("%6.0f s  %zu jobs, %zu calls; last %s\n",
                std::chrono::duration<double>(elapsed()).count(), jobs_, calls_,
                describe(last).c_str());
    std::fflush(stdout);
  }

  clock::time_point begin_ = clock::now();
  std::uint64_t seed_;
  clock::duration budget_;
  std::size_t jobs_ = 0;
  std::size_t calls_ = 0;
};

int replay(const soak_job& job) {
  std::puts(describe(job).c_str());
  for (std::size_t i = 0; i < job.rounds; ++i) {
    std::printf("round %zu, %s", i, describe(make_round(job, i)).c_str());
  }
  std::fflush(stdout);
  const bool well = run_whole(job);
  if (well) std::puts("nothing wrong");
  return well ? 0 : 1;
}

int be_rank(std::uint64_t seed, bool with_deadlines) {
  soak_job job = make_job(seed);
  if (!with_deadlines) job.limit.reset();
  return be_rank_of(job);
}

}  // namespace
}  // namespace muster::testing

int main(int argc, char** argv) {
  CLI::App app("Runs random jobs of processes, until the time is up or one goes wrong");
  std::uint64_t seconds = 60;
  std::uint64_t seed = muster::testing::run_seed();
  std::uint64_t one = 0;
  bool without_deadlines = false;
  app.add_option("--for", seconds, "how long: 90s, 10m, 1h")
      ->transform(muster::testing::to_seconds);
  app.add_option("--seed", seed, "of the jobs (default: random)");
  const CLI::Option* const replay = app.add_option("--replay", one, "run one job and describe it");
  const CLI::Option* const rank = app.add_option("--rank-of", one)->group("");
  app.add_flag("--without-deadlines", without_deadlines)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (*rank) return muster::testing::be_rank(one, !without_deadlines);
    if (*replay) return muster::testing::replay(muster::testing::make_job(one));
    return muster::testing::soak(seed, std::chrono::seconds(seconds)).run() ? 0 : 1;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 2;
  }
}
