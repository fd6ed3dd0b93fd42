#include <cstdio>
#include <filesystem>

#include "tests/soak/job.hpp"
#include "tests/soak/jobs.hpp"
#include "tools/command/run/launch.hpp"

namespace muster::testing {
namespace {

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

class all_sound final : public jobs {
public:
  /// Where the first try may have ended early, again.
  bool run(std::uint64_t seed) override {
    const soak_job job = make_job(seed);
    const bool well = (!job.limit || run_job(job, true)) && run_job(job, false);
    if (!well) {
      std::printf("WRONG in %s\n%s\n", testing::describe(job).c_str(), how_to_replay(job).c_str());
    }
    std::fflush(stdout);
    calls_ += calls_of(job);
    return well;
  }

  std::string describe(std::uint64_t seed) const override {
    const soak_job job = make_job(seed);
    std::string text = testing::describe(job) + "\n";
    for (std::size_t i = 0; i < job.rounds; ++i) {
      text += "round " + std::to_string(i) + ", " + testing::describe(make_round(job, i));
    }
    return text;
  }

  std::string summary() const override { return std::to_string(calls_) + " calls"; }

private:
  std::size_t calls_ = 0;
};

}  // namespace

std::unique_ptr<jobs> sound_jobs() { return std::make_unique<all_sound>(); }

}  // namespace muster::testing
