// Real processes that make random calls of every kind, job after job, until time is up or one goes
// wrong. This program starts the jobs, as `muster run` does or as a user would by hand, and is each
// of their ranks as well.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/soak/fault.hpp"
#include "tests/soak/job.hpp"
#include "tests/soak/jobs.hpp"
#include "tests/soak/rank.hpp"
#include "tests/soak/survivor.hpp"
#include "tests/support/seconds.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class soak {
public:
  soak(jobs& of, std::uint64_t seed, clock::duration budget)
      : jobs_(of), seed_(seed), budget_(budget) {}

  bool run() {
    std::printf("soaking from seed %llu\n", static_cast<unsigned long long>(seed_));
    std::fflush(stdout);
    clock::duration next_report = 5s;
    std::uint64_t done = 0;
    while (elapsed() < budget_) {
      const std::uint64_t seed = derive(seed_, done);
      if (!jobs_.run(seed)) return false;
      ++done;
      if (elapsed() < next_report) continue;
      report(done, seed);
      next_report = elapsed() + std::max<clock::duration>(5s, budget_ / 60);
    }
    std::printf("%llu jobs, %s: found nothing wrong\n", static_cast<unsigned long long>(done),
                jobs_.summary().c_str());
    return true;
  }

private:
  clock::duration elapsed() const { return clock::now() - begin_; }

  void report(std::uint64_t done, std::uint64_t last) const {
    std::string which = jobs_.describe(last);
    constexpr std::size_t longest = 240;
    which.resize(which.find('\n'));
    if (which.size() > longest) which.replace(longest, std::string::npos, " ...");
    std::printf("%6.0f s  %llu jobs, %s; last %s\n",
                std::chrono::duration<double>(elapsed()).count(),
                static_cast<unsigned long long>(done), jobs_.summary().c_str(), which.c_str());
    std::fflush(stdout);
  }

  clock::time_point begin_ = clock::now();
  jobs& jobs_;
  std::uint64_t seed_;
  clock::duration budget_;
};

int replay(jobs& of, std::uint64_t seed) {
  std::fputs(of.describe(seed).c_str(), stdout);
  std::fflush(stdout);
  const bool well = of.run(seed);
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
  using namespace muster::testing;
  CLI::App app("Runs random jobs of processes, until the time is up or one goes wrong");
  std::uint64_t seconds = 60;
  std::uint64_t seed = run_seed();
  std::uint64_t one = 0;
  bool faults = false;
  bool without_deadlines = false;
  std::string scores;
  std::string group;
  app.add_option("--for", seconds, "how long: 90s, 10m, 1h")->transform(to_seconds);
  app.add_option("--seed", seed, "of the jobs (default: random)");
  app.add_flag("--faults", faults, "jobs in which ranks are killed, stopped, and so on");
  const CLI::Option* const again = app.add_option("--replay", one, "run one job and describe it");
  const CLI::Option* const rank = app.add_option("--rank-of", one)->group("");
  app.add_option("--scores", scores)->group("");
  app.add_option("--group", group)->group("");
  app.add_flag("--without-deadlines", without_deadlines)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (*rank) {
      return faults ? be_survivor_of(make_faulty_job(one), scores, group)
                    : be_rank(one, !without_deadlines);
    }
    const std::unique_ptr<jobs> all = faults ? faulty_jobs() : sound_jobs();
    if (*again) return replay(*all, one);
    return soak(*all, seed, std::chrono::seconds(seconds)).run() ? 0 : 1;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 2;
  }
}
