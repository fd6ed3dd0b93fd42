#include "tests/search/survivor.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string>
#include <utility>

#include <muster/api/shrink.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/within.hpp>

namespace muster::testing {
namespace {

// ---- which failures follow from the trouble

/// Whether it is dead, or one of these ranks holds it for dead.
template <class Observers>
bool is_gone(sim::simulation& all, std::size_t rank, const Observers& to) {
  return all.rank_at(rank).is_dead() ||
         std::ranges::any_of(to, [&](std::size_t each) { return all.has_lost(each, rank); });
}

/// \param rank  of the job, which the failure names
/// \param first of the calls on the job's team
bool is_explained(const random_case& of, sim::simulation& all, errc why, std::size_t rank,
                  bool first) {
  switch (why) {
    case errc::rank_died:
      return rank < all.size() && is_gone(all, rank, std::views::iota(std::size_t{0}, all.size()));
    case errc::rank_left: {
      if (rank >= all.size() || !all.rank_at(rank).is_over()) return false;
      // A stop that comes before a call has begun breaks nothing.
      const bool may_leave = of.what == trouble::leaving || of.what == trouble::stop_request;
      const bool leaves = may_leave && rank == of.culprit;
      return leaves || of.goes_on || all.is_apart(rank);
    }
    case errc::mismatched_call:
      return of.what == trouble::mismatch && first;
    case errc::deadline_exceeded:
      return of.what == trouble::deadline && first;
    case errc::stopped:
      return (of.what == trouble::stop_request || of.what == trouble::revocation ||
              (of.what == trouble::deadline && of.goes_on)) &&
             first;
    default:
      return false;
  }
}

// ---- a rank

/// What a stop request is about may end without having begun: then the team is whole, and the
/// others do not know.
bool may_leave_team_whole(trouble what) {
  return what == trouble::stop_request || what == trouble::deadline;
}

class survivor {
public:
  survivor(const random_case& of, sim::simulation& all, sim::rank& me, survivors& seen,
           findings& found)
      : case_(of), all_(all), me_(me), seen_(seen), found_(found), pause_(rests(me, of.latest)) {
    for (std::size_t i = 0; i < all.size(); ++i) members_.push_back(i);
  }
  survivor(const survivor&) = delete;
  survivor& operator=(const survivor&) = delete;

  task<> live() {
    const std::size_t most = 3 * all_.size() + 10;
    while (!co_await makes_calls()) {
      if (++generation_ > most) co_return add("its teams fail on and on");
      if (!co_await goes_on()) co_return;
    }
  }

private:
  team& here() const { return rest_ ? *rest_ : me_.team(); }
  bool is_culprit() const { return me_.number() == case_.culprit; }

  std::vector<spec> calls() {
    if (generation_ > 0) {
      random_stream random(derive(case_.seed, generation_));
      const std::size_t how_many = 1 + random.below(6);
      return random_calls(random.next(), here().size(), how_many, random.one_in(4) ? 9000 : 100);
    }
    std::vector<spec> all = case_.calls;
    if (!is_culprit()) return all;
    if (case_.what == trouble::mismatch) all[case_.odd_call] = case_.odd;
    if (case_.what == trouble::leaving) all.resize(case_.odd_call);
    return all;
  }

  task<> make_calls_of(const conduct& how) {
    const std::vector<spec> all = calls();
    co_await make_calls(here(), all, how, found_, pause_);
  }

  task<> at_trouble(std::stop_source* asked) {
    co_await me_.rest(case_.trouble_at);
    if (asked != nullptr) {
      asked->request_stop();
    } else if (!rest_) {
      me_.team().revoke("for the search");
    }
  }

  task<> first_calls() {
    if (is_culprit() && case_.what == trouble::stop_request) {
      std::stop_source asked;
      co_await when_all(with_stop(asked.get_token(), make_calls_of(case_.how)), at_trouble(&asked));
    } else if (is_culprit() && case_.what == trouble::revocation) {
      co_await when_all(make_calls_of(case_.how), at_trouble(nullptr));
    } else {
      co_await make_calls_of(case_.how);
    }
  }

  task<> later_calls() {
    conduct how = case_.how;
    how.limit.reset();
    co_await make_calls_of(how);
  }

  /// False where they fail as they may, and the team is broken.
  task<bool> makes_calls() {
    std::exception_ptr failure;
    try {
      if (generation_ == 0) {
        co_await first_calls();
      } else {
        co_await later_calls();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    if (!failure) co_return true;
    if (!all_.is_ending() && !is_explained(failure)) add("ended with: " + text_of(failure));
    if (all_.is_ending() || !case_.goes_on) std::rethrow_exception(failure);
    if (!here().failure()) {
      if (!may_leave_team_whole(case_.what)) add("its calls failed, and the team is whole");
      here().revoke("for the search");
    }
    co_return false;
  }

  bool is_explained(const std::exception_ptr& failure) const {
    try {
      std::rethrow_exception(failure);
    } catch (const error& why) {
      const std::size_t rank = why.rank() < members_.size() ? members_[why.rank()] : no_rank;
      return testing::is_explained(case_, all_, static_cast<errc>(why.code().value()), rank,
                                   generation_ == 0);
    } catch (...) {
      return false;
    }
  }

  /// False where this rank is left without a team, as it may be.
  task<bool> goes_on() {
    std::unique_ptr<team> next;
    std::exception_ptr failure;
    try {
      next = co_await shrink_in_time();
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      if (all_.is_ending()) std::rethrow_exception(failure);
      if (!may_be_left_alone(failure)) add("shrink failed: " + text_of(failure));
      co_return false;
    }
    note(*next);
    rest_ = std::move(next);
    co_return true;
  }

  task<std::unique_ptr<team>> shrink_in_time() {
    const auto limit = patience();
    return limit ? with_timeout(*limit, shrink(here())) : shrink(here());
  }

  bool is_impatient() const { return is_culprit() && case_.impatience && generation_ == 1; }

  /// Who is held for dead and lives may wait in vain. Those of whom that is to be expected give up
  /// long before others do, who may wait for them.
  std::optional<clock_time> patience() const {
    using namespace std::chrono_literals;
    if (is_impatient()) return case_.impatience;
    if (case_.in.options.faults.silence_ns == 0) return std::nullopt;
    return is_suspect() ? 1s : 60s;
  }
  bool is_suspect() const {
    const sim::faults& faults = case_.in.options.faults;
    const std::size_t node = all_.shape().node_of(me_.number());
    return std::ranges::any_of(faults.outages, [&](const auto& one) { return one.node == node; }) ||
           std::ranges::any_of(faults.stops,
                               [&](const auto& one) { return one.rank == me_.number(); });
  }

  bool may_be_left_alone(const std::exception_ptr& failure) const {
    try {
      std::rethrow_exception(failure);
    } catch (const error& why) {
      if (why.code() == errc::deadline_exceeded && is_impatient()) return true;
      const bool knows = why.code() == errc::rank_died && why.rank() == here().rank();
      return (knows || why.code() == errc::deadline_exceeded) && all_.is_apart(me_.number());
    } catch (...) {
      return false;
    }
  }

  /// All that live and can be reached are of the new team.
  void note(team& next) {
    auto& reach = static_cast<sim::fabric&>(next.fabric());
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < next.size(); ++i) members.push_back(reach.in_job(i));
    for (const std::size_t each : members_) {
      const bool is_left = std::ranges::count(members, each) != 0;
      if (is_left || is_gone(all_, each, members_) || all_.rank_at(each).is_over()) continue;
      add("rank " + std::to_string(each) + " is alive, and not of its new team");
    }
    members_ = members;
    seen_.note(me_.number(), std::move(members));
  }

  void add(const std::string& what) {
    found_.add("rank " + std::to_string(me_.number()) + ", team " + std::to_string(generation_) +
               ": " + what);
  }

  const random_case& case_;
  sim::simulation& all_;
  sim::rank& me_;
  survivors& seen_;
  findings& found_;
  lateness pause_;
  std::size_t generation_ = 0;
  std::unique_ptr<team> rest_;
  std::vector<std::size_t> members_;  // of the team, as ranks of the job
};

std::string list(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const std::size_t each : ranks) text += " " + std::to_string(each);
  return text;
}

}  // namespace

void survivors::check(sim::simulation& all, findings& found) const {
  for (std::size_t rank = 0; rank < teams_.size(); ++rank) {
    for (std::size_t i = 0; i < teams_[rank].size(); ++i) {
      for (const std::size_t other : teams_[rank][i]) {
        if (teams_[other].size() <= i || teams_[other][i] == teams_[rank][i]) continue;
        const std::vector<std::size_t>& without = teams_[other][i];
        // What it had agreed on with others who are dead, too, nobody can tell.
        const bool is_dead = all.rank_at(rank).is_dead();
        const bool is_held_for_dead =
            is_dead || std::ranges::any_of(without, [&](std::size_t each) {
              return all.has_lost(each, rank) || all.has_lost(rank, each);
            });
        if (std::ranges::count(without, rank) == 0 && is_held_for_dead) continue;
        found.add("team " + std::to_string(i + 1) + " is of ranks" + list(teams_[rank][i]) +
                  " for rank " + std::to_string(rank) + ", and of" + list(teams_[other][i]) +
                  " for rank " + std::to_string(other));
      }
    }
  }
}

task<> live(const random_case& of, sim::simulation& all, sim::rank& me, survivors& seen,
            findings& found) {
  survivor one(of, all, me, seen, found);
  co_await one.live();
}

}  // namespace muster::testing
