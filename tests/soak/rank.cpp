#include "tests/soak/rank.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/soak/teams.hpp"
#include "tests/soak/usage.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::chrono::seconds longest(rounds(60, 240));

void say(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }

/// By a moment mostly, and sometimes by long.
task<> come_late(random_stream& random) {
  if (random.one_in(100)) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(20'000)));
  } else if (random.one_in(8)) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  } else if (random.one_in(4)) {
    std::this_thread::yield();
  }
  co_return;
}

/// What a rank does in a round; its teams end with it.
task<> make_round_calls(team& of, const soak_round& round, findings& found, const lateness& pause) {
  std::vector<soaked_team> teams;
  if (!round.how.limit) teams = co_await make_teams(of, round.teams);
  std::vector<task<>> all;
  all.push_back(make_calls(of, round.calls, round.how, found, pause));
  for (const soaked_team& each : teams) {
    if (each.made) all.push_back(make_calls(*each.made, each.calls, each.how, found, pause));
  }
  co_await when_all(std::move(all));
}

class soaked_rank {
public:
  soaked_rank(team& of, const soak_job& job) : of_(of), job_(job) {}

  /// Whether all was well.
  bool run() {
    for (std::size_t pass = 0; pass < job_.passes; ++pass) {
      for (std::size_t i = 0; i < job_.rounds; ++i) {
        where_ = "rank " + std::to_string(of_.rank()) + ", pass " + std::to_string(pass) +
                 ", round " + std::to_string(i);
        if (!run_round(make_round(job_, i))) return false;
        if (broken_) return true;
      }
      if (!memory_is_bounded(pass)) return false;
    }
    return true;
  }

private:
  bool run_round(const soak_round& round) {
    const std::string what = describe(job_) + "; " + where_ + ", " + describe(round);
    const watchdog alive(what, longest, how_to_replay(job_));
    findings found;
    const lateness pause = come_late;
    try {
      start(of_.engine(), make_round_calls(of_, round, found, pause)).wait();
    } catch (const error& why) {
      broken_ = job_.limit && why.code() == errc::deadline_exceeded;
      if (!broken_) found.add(std::string("failed: ") + why.what());
    }
    const std::string wrong = found.take();
    if (!wrong.empty()) say(where_ + ", " + describe(round) + wrong);
    return wrong.empty();
  }

  /// After each pass as after the first, but for what depends on who was when where, and for
  /// rings: in one pass only some pairs of ranks come to use theirs, or all of it.
  bool memory_is_bounded(std::size_t pass) {
    const usage now = usage_now();
    if (pass == 0) warm_ = now;
    const std::size_t rings = of_.size() * of_.memory_bytes().links >> 10;
    return has_not_grown("its own", warm_.own, now.own, 0) &&
           has_not_grown("shared", warm_.shared, now.shared, rings);
  }

  bool has_not_grown(std::string_view whose, std::size_t before, std::size_t now,
                     std::size_t expected) const {
    if (is_bounded(before, now, expected)) return true;
    say(where_ + ": " + std::string(whose) + " memory grew from " + std::to_string(before) +
        " to " + std::to_string(now) + " KiB");
    return false;
  }

  team& of_;
  const soak_job& job_;
  std::string where_;
  bool broken_ = false;
  usage warm_;
};

}  // namespace

int be_rank_of(const soak_job& job) {
  try {
    const watchdog alive("start of " + describe(job), longest * 30, how_to_replay(job));
    world here;
    if (here.team().size() != job.ranks) {
      say("expected " + std::to_string(job.ranks) + " ranks");
      return 2;
    }
    return soaked_rank(here.team(), job).run() ? 0 : 1;
  } catch (const std::exception& why) {
    say(describe(job) + ": " + why.what());
    return 2;
  }
}

}  // namespace muster::testing
