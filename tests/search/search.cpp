// Looks for bugs: runs random cases, each determined by one number, until time is up or one goes
// wrong. Worker processes run them, so that a crash or a hang ends with a number, too.

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/search/case.hpp"
#include "tests/support/seconds.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// What a worker process tells: memory of both.
struct slot {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> seed{0};  ///< of the case in progress
};

struct worker {
  pid_t process = -1;
  std::uint64_t seen_done = 0;
  clock::time_point since;  ///< that it has done so many
};

std::string how_to_replay_case(std::uint64_t seed) {
  return "replay: tools/test --search-replay " + std::to_string(seed);
}

void say_wrong(std::uint64_t seed, const std::string& wrong) {
  const std::string text = "WRONG in case " + std::to_string(seed) + "\n" + wrong + "\n" +
                           describe(make_case(seed)) + how_to_replay_case(seed) + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string outcome_of(std::uint64_t seed, sim::defect planted) {
  try {
    return run_case(make_case(seed), planted);
  } catch (const std::exception& why) {
    return std::string("exception: ") + why.what();
  }
}

constexpr int said_wrong = 3;  // a worker's exit status; sanitizers have others

/// What is searched.
struct field {
  std::uint64_t first;  ///< seed
  std::size_t workers;
  sim::defect planted;
  std::optional<trouble> only;  ///< cases without this one are passed over
};

/// A worker's life: every `workers`-th case.
[[noreturn]] void work(slot& mine, const field& in, std::size_t index) {
  const auto& [first, workers, planted, only] = in;
  for (std::uint64_t i = index;; i += workers) {
    const std::uint64_t seed = derive(first, i);
    if (only && make_case(seed).what != *only) continue;
    // relaxed: read when this process stands still or is gone.
    mine.seed.store(seed, std::memory_order_relaxed);
    const std::string wrong = outcome_of(seed, planted);
    if (!wrong.empty()) {
      say_wrong(seed, wrong);
      ::_exit(said_wrong);
    }
    mine.done.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Memory that workers write and their parent reads.
std::span<slot> make_slots(std::size_t count) {
  void* const memory = ::mmap(nullptr, count * sizeof(slot), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const slots = static_cast<slot*>(memory);
  for (std::size_t i = 0; i < count; ++i) new (slots + i) slot;
  return {slots, count};
}

class searcher {
public:
  explicit searcher(const field& in)
      : in_(in), slots_(make_slots(in.workers)), workers_(in.workers) {}
  ~searcher() { end_all(); }
  searcher(const searcher&) = delete;
  searcher& operator=(const searcher&) = delete;

  /// Whether all went well until the time was up.
  bool search(clock::duration budget) {
    const clock::time_point until = begin_ + budget;
    for (std::size_t i = 0; i < workers_.size(); ++i) begin(i);
    clock::time_point next_report = begin_ + 5s;
    while (clock::now() < until) {
      std::this_thread::sleep_for(50ms);
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (!is_well(i)) return false;
      }
      if (clock::now() < next_report) continue;
      report();
      next_report += std::max<clock::duration>(5s, budget / 60);
    }
    return true;
  }

  void report() const {
    const double seconds = std::chrono::duration<double>(clock::now() - begin_).count();
    std::printf("%6.0f s  %llu random cases, %.0f a second\n", seconds,
                static_cast<unsigned long long>(done()), static_cast<double>(done()) / seconds);
    std::fflush(stdout);
  }

private:
  void begin(std::size_t i) {
    const pid_t process = ::fork();
    if (process < 0) throw std::runtime_error("cannot start a worker");
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would hear what it finds
      work(slots_[i], in_, i);
    }
    workers_[i].process = process;
    workers_[i].since = clock::now();
  }

  std::uint64_t done() const {
    std::uint64_t all = 0;
    for (const slot& each : slots_) all += each.done.load(std::memory_order_relaxed);
    return all;
  }

  bool is_well(std::size_t i) {
    worker& one = workers_[i];
    int status = 0;
    const std::uint64_t seed = slots_[i].seed.load(std::memory_order_relaxed);
    if (::waitpid(one.process, &status, WNOHANG) != one.process) return !hangs(i, seed);
    one.process = -1;
    if (WIFSIGNALED(status)) {
      say_wrong(seed, "it was ended by signal " + std::to_string(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != said_wrong) {
      say_wrong(seed, "it ended with status " + std::to_string(WEXITSTATUS(status)));
    }
    return false;
  }

  bool hangs(std::size_t i, std::uint64_t seed) {
    worker& one = workers_[i];
    const std::uint64_t done = slots_[i].done.load(std::memory_order_relaxed);
    if (done != one.seen_done) {
      one.seen_done = done;
      one.since = clock::now();
    }
    constexpr auto longest = 40s;
    if (clock::now() - one.since < longest) return false;
    say_wrong(seed, "it hangs");
    return true;
  }

  void end_all() {
    for (const worker& each : workers_) {
      if (each.process > 0) ::kill(each.process, SIGKILL);
    }
    for (const worker& each : workers_) {
      if (each.process > 0) ::waitpid(each.process, nullptr, 0);
    }
  }

  clock::time_point begin_ = clock::now();
  field in_;
  std::span<slot> slots_;
  std::vector<worker> workers_;
};

int search(const field& in, clock::duration budget) {
  std::printf("searching from seed %llu with %zu processes\n",
              static_cast<unsigned long long>(in.first), in.workers);
  std::fflush(stdout);
  searcher all(in);
  const bool well = all.search(budget);
  all.report();
  std::puts(well ? "found nothing wrong" : "found something wrong, see above");
  return well ? 0 : 1;
}

int replay(std::uint64_t seed, sim::defect planted) {
  std::fputs(describe(make_case(seed)).c_str(), stdout);
  std::fflush(stdout);
  const std::string wrong = outcome_of(seed, planted);
  if (!wrong.empty()) say_wrong(seed, wrong);
  if (wrong.empty()) std::puts("nothing wrong");
  return wrong.empty() ? 0 : 1;
}

std::map<std::string, trouble> all_troubles() {
  std::map<std::string, trouble> all;
  for (std::size_t i = 0; i < troubles; ++i) {
    const auto each = static_cast<trouble>(i);
    all.emplace(name(each), each);
  }
  return all;
}

/// Bugs of the simulator that the search must find.
const std::map<std::string, sim::defect>& plants() {
  using enum sim::defect;
  static const std::map<std::string, sim::defect> all = {
      {"told-by-finder", told_by_finder},   {"lost-on-one-side", lost_on_one_side},
      {"left-unheard", left_unheard},       {"flags-overtake", flags_overtake},
      {"survivors-break", survivors_break}, {"lost-while-cut-off", lost_while_cut_off},
  };
  return all;
}

}  // namespace
}  // namespace muster::testing

int main(int argc, char** argv) {
  CLI::App app("Runs random cases under virtual time, until the time is up or one goes wrong");
  std::uint64_t seconds = 60;
  std::uint64_t seed = muster::testing::run_seed();
  std::uint64_t one = 0;
  std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  app.add_option("--for", seconds, "how long: 90s, 10m, 1h")
      ->transform(muster::testing::to_seconds);
  app.add_option("--seed", seed, "of the search (default: random)");
  app.add_option("--workers", workers, "processes (default: as many as processors)")
      ->check(CLI::Range(1, 1024));
  const CLI::Option* replay = app.add_option("--replay", one, "run one case and describe it");
  auto planted = muster::sim::defect::none;
  app.add_option("--planted", planted, "a bug of the simulator, which is to be found")
      ->transform(CLI::CheckedTransformer(muster::testing::plants()));
  std::optional<muster::testing::trouble> only;
  app.add_option("--only", only, "cases with this trouble")
      ->transform(CLI::CheckedTransformer(muster::testing::all_troubles()));
  CLI11_PARSE(app, argc, argv);
  if (*replay) return muster::testing::replay(one, planted);
  return muster::testing::search({seed, workers, planted, only}, std::chrono::seconds(seconds));
}
