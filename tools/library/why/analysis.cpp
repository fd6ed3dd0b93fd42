#include "tools/library/why/analysis.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <muster/call/arguments.hpp>
#include <muster/select/recorded_call.hpp>

namespace muster::why {
namespace {

bool is_under_way(const seen_call& call) { return call.is == seen_call::state::under_way; }

bool is_same_call(const seen_call& one, const seen_call& other) {
  return std::tie(one.history, one.kind, one.count, one.root) ==
         std::tie(other.history, other.kind, other.count, other.root);
}

/// What some rank knows of a team.
const seen_team* find_team(std::uint64_t id, std::span<const seen_rank> ranks) {
  for (const seen_rank& rank : ranks) {
    const auto found = std::ranges::find(rank.teams, id, &seen_team::id);
    if (found != rank.teams.end()) return &*found;
  }
  return nullptr;
}

/// A rank of a team.
struct member {
  std::size_t seen = 0;                    // its place among those seen
  std::optional<std::uint64_t> rank = {};  // in the team
  std::uint32_t last = 0;                  // the last call that it has begun; 0: none on record
};

/// What is known of a job's teams.
class job_view {
public:
  explicit job_view(std::span<const seen_rank> ranks) : ranks_(ranks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (const seen_team& each : ranks[i].teams) member_of(each.id, i).rank = each.rank;
      for (const seen_call& each : ranks[i].calls) {
        member& one = member_of(each.team, i);
        one.last = std::max(one.last, each.sequence);
      }
    }
  }

  const std::map<std::uint64_t, std::vector<member>>& teams() const { return teams_; }
  std::span<const member> members(std::uint64_t team) const { return teams_.at(team); }
  /// How many a team has, seen or not; 0: not known.
  std::uint64_t ranks_of(std::uint64_t team) const {
    const seen_team* const known = find_team(team, ranks_);
    return known == nullptr ? 0 : known->ranks;
  }
  const member* find(std::uint64_t team, std::uint64_t rank) const {
    const auto& all = teams_.at(team);
    const auto found = std::ranges::find(all, std::optional(rank), &member::rank);
    return found == all.end() ? nullptr : &*found;
  }
  /// A member's call of a number, where it is still on record.
  const seen_call* call_of(std::size_t seen, const call_place& at) const {
    const auto& calls = ranks_[seen].calls;
    const auto found = std::ranges::find_if(
        calls, [&](const seen_call& each) { return call_place{each.team, each.sequence} == at; });
    return found == calls.end() ? nullptr : &*found;
  }
  const seen_rank& rank(std::size_t seen) const { return ranks_[seen]; }
  std::size_t size() const { return ranks_.size(); }

private:
  member& member_of(std::uint64_t team, std::size_t seen) {
    std::vector<member>& all = teams_[team];
    const auto found = std::ranges::find(all, seen, &member::seen);
    return found != all.end() ? *found : all.emplace_back(member{.seen = seen});
  }

  std::span<const seen_rank> ranks_;
  std::map<std::uint64_t, std::vector<member>> teams_;
};

// ---- mismatches

/// Calls of one number, by what was called; the largest group first.
std::vector<callers> group(const job_view& job, std::span<const member> members,
                           const call_place& at) {
  std::vector<callers> groups;
  for (const member& each : members) {
    const seen_call* const call = job.call_of(each.seen, at);
    if (call == nullptr) continue;
    auto found = std::ranges::find_if(
        groups, [&](const callers& one) { return is_same_call(one.what, *call); });
    if (found == groups.end()) found = groups.insert(found, callers{{}, *call});
    found->ranks.push_back(job.rank(each.seen).rank);
  }
  std::ranges::sort(groups, [](const callers& one, const callers& other) {
    if (one.ranks.size() != other.ranks.size()) return one.ranks.size() > other.ranks.size();
    return one.ranks.front() < other.ranks.front();
  });
  return groups;
}

/// A hash covers all calls before, so that the first that differs is found by going through them.
std::optional<mismatch> find_mismatch(const job_view& job, std::uint64_t team,
                                      std::span<const member> members) {
  std::set<std::uint32_t> sequences;
  for (const member& each : members) {
    for (const seen_call& call : job.rank(each.seen).calls) {
      if (call.team == team) sequences.insert(call.sequence);
    }
  }
  std::uint32_t agreed = 0;  // the last that several ranks have on record, all alike
  for (const std::uint32_t sequence : sequences) {
    std::vector<callers> groups = group(job, members, {team, sequence});
    if (groups.size() > 1) {
      return mismatch{{team, sequence}, agreed + 1 == sequence, std::move(groups)};
    }
    if (groups.front().ranks.size() > 1) agreed = sequence;
  }
  return std::nullopt;
}

// ---- who waits for whom

/// Whether somebody drives the engine of a rank that has begun a call, so that this goes on.
bool is_driven(const seen_rank& one, const seen_call& call) {
  constexpr std::int64_t long_ns = 2'000'000'000;  // it looks a hundred times more often
  return one.is_asleep || one.seen_ns - std::max(one.looked_ns, call.begun_ns) < long_ns;
}

class waits {
public:
  explicit waits(const job_view& job)
      : job_(job), blockers_(job.size()), waits_for_unseen_(job.size()) {
    for (std::size_t i = 0; i < job.size(); ++i) {
      for (const seen_call& call : job.rank(i).calls) {
        if (!is_under_way(call)) continue;
        if (!is_out_of_action(job.rank(i)) && is_driven(job.rank(i), call)) {
          note(i, call);
        } else if (process::is_stopped(job.rank(i).state)) {
          note_absent(i, call);
        }
      }
    }
  }

  struct wait {
    std::size_t on;  // which rank it is for
    const seen_call* in;
  };
  std::span<const wait> of(std::size_t seen) const { return blockers_[seen]; }
  /// Whether a rank waits for none that was seen, nor perhaps for another.
  bool is_free(std::size_t seen) const {
    return blockers_[seen].empty() && !waits_for_unseen_[seen];
  }
  /// All who wait for a rank, or for those who do.
  std::vector<std::size_t> all_waiting_for(std::size_t seen) const {
    std::vector<bool> reached(job_.size());
    std::vector<std::size_t> found = {seen};
    reached[seen] = true;
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (std::size_t i = 0; i < job_.size(); ++i) {
        if (reached[i] || !waits_for(i, found[next])) continue;
        reached[i] = true;
        found.push_back(i);
      }
    }
    found.erase(found.begin());
    std::ranges::sort(found);
    return found;
  }
  bool waits_for(std::size_t one, std::size_t other) const {
    return std::ranges::any_of(blockers_[one], [&](const wait& each) { return each.on == other; });
  }

private:
  void note(std::size_t self, const seen_call& call) {
    const auto members = job_.members(call.team);
    const member* const first =
        call.awaited == 0 ? nullptr : job_.find(call.team, call.first_awaited);
    if (misses_unseen(call, first)) waits_for_unseen_[self] = true;
    if (first != nullptr && still_is_needed(*first, call)) block(self, first->seen, call);
    if (call.awaited == 1) return;
    for (const member& each : members) {
      if (each.seen != self && each.last < call.sequence) block(self, each.seen, call);
    }
  }
  /// Of a rank that is stopped: it would wait for those who have not come. Others may have done
  /// their part by now.
  void note_absent(std::size_t self, const seen_call& call) {
    const bool needs_one = call.awaited == 1;
    for (const member& each : job_.members(call.team)) {
      if (each.seen == self || each.last >= call.sequence) continue;
      if (!needs_one || each.rank == call.first_awaited) block(self, each.seen, call);
    }
  }
  /// Whether a rank that is waited for may have to do something yet. Where its call has failed it
  /// has said why, or will; where it can do nothing more, what it did last may not have got
  /// through.
  bool still_is_needed(const member& one, const seen_call& call) const {
    if (one.last < call.sequence) return true;
    const seen_call* const theirs = job_.call_of(one.seen, {call.team, call.sequence});
    if (theirs == nullptr || theirs->is == seen_call::state::failed) return false;
    return is_under_way(*theirs) || is_out_of_action(job_.rank(one.seen));
  }
  bool misses_unseen(const seen_call& call, const member* first) const {
    if (call.awaited != 0 && first == nullptr) return true;
    return call.awaited != 1 && job_.members(call.team).size() < job_.ranks_of(call.team);
  }
  void block(std::size_t self, std::size_t on, const seen_call& in) {
    if (!waits_for(self, on)) blockers_[self].push_back({on, &in});
  }

  const job_view& job_;
  std::vector<std::vector<wait>> blockers_;
  std::vector<bool> waits_for_unseen_;
};

culprit accuse(const job_view& job, const waits& all, std::size_t seen,
               const std::vector<std::size_t>& waiting) {
  culprit one;
  one.rank = job.rank(seen).rank;
  const seen_call* first = nullptr;
  for (const std::size_t each : waiting) {
    one.waiting.push_back(job.rank(each).rank);
    for (const waits::wait& wait : all.of(each)) {
      one.longest_ns = std::max(one.longest_ns, job.rank(each).seen_ns - wait.in->begun_ns);
      if (wait.on == seen && (first == nullptr || wait.in->begun_ns < first->begun_ns)) {
        first = wait.in;
      }
    }
  }
  one.theirs = *first;
  one.missed = {first->team, first->sequence};
  for (const member& each : job.members(first->team)) {
    if (each.seen == seen) one.has_come = each.last >= first->sequence;
  }
  return one;
}

std::vector<culprit> find_culprits(const job_view& job, const waits& all) {
  std::vector<culprit> found;
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (!all.is_free(i)) continue;
    const std::vector<std::size_t> waiting = all.all_waiting_for(i);
    if (!waiting.empty()) found.push_back(accuse(job, all, i, waiting));
  }
  std::ranges::sort(found, [](const culprit& one, const culprit& other) {
    if (one.waiting.size() != other.waiting.size())
      return one.waiting.size() > other.waiting.size();
    return one.rank < other.rank;
  });
  return found;
}

/// Goes from rank to rank, each time to the first that is waited for, until one comes again.
circle walk(const job_view& job, const waits& all, std::size_t from) {
  std::vector<std::size_t> path;
  std::size_t at = from;
  while (std::ranges::find(path, at) == path.end()) {
    path.push_back(at);
    at = all.of(at).front().on;
  }
  path.erase(path.begin(), std::ranges::find(path, at));
  std::ranges::rotate(path, std::ranges::min_element(path));
  circle one;
  for (const std::size_t each : path) {
    one.ranks.push_back(job.rank(each).rank);
    one.calls.push_back(*all.of(each).front().in);
  }
  return one;
}

/// Whoever waits and is not kept by a culprit waits for ranks that wait for each other.
std::vector<circle> find_circles(const job_view& job, const waits& all) {
  std::vector<bool> is_explained(job.size());
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (!all.of(i).empty()) continue;
    is_explained[i] = true;
    for (const std::size_t each : all.all_waiting_for(i)) is_explained[each] = true;
  }
  std::vector<circle> found;
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (is_explained[i]) continue;
    circle one = walk(job, all, i);
    const auto is_it = [&](const circle& other) { return other.ranks == one.ranks; };
    if (std::ranges::none_of(found, is_it)) found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::uint64_t> find_unseen(std::span<const seen_rank> ranks) {
  if (ranks.empty()) return {};
  std::vector<std::uint64_t> unseen(ranks.front().ranks);
  std::iota(unseen.begin(), unseen.end(), std::uint64_t{0});
  std::erase_if(unseen, [&](std::uint64_t rank) {
    return std::ranges::find(ranks, rank, &seen_rank::rank) != ranks.end();
  });
  return unseen;
}

/// Whether no rank ends such a call before all have come to it.
bool waits_for_all(const seen_call& call) {
  using enum collective;
  const collective what = collective_of(call.kind);
  return what == barrier || what == allreduce || what == allgather || what == alltoall ||
         what == reduce_scatter_block || what == allgatherv || what == reduce_scatter;
}

/// Who came last to such a call found all others there. They have on record when they ended: as
/// soon as that rank came. 0: nobody has, by the same clock.
std::int64_t end_by_others(const seen_rank& of, const seen_call& call,
                           std::span<const seen_rank> ranks) {
  std::int64_t end = 0;
  for (const seen_rank& other : ranks) {
    if (other.rank == of.rank || other.host.view() != of.host.view()) continue;
    for (const seen_call& theirs : other.calls) {
      const bool is_it = theirs.team == call.team && theirs.sequence == call.sequence &&
                         theirs.history == call.history;
      if (!is_it || theirs.ended_ns == 0) continue;
      end = end == 0 ? theirs.ended_ns : std::min(end, theirs.ended_ns);
    }
  }
  return end;
}

}  // namespace

time_span end_of_last_call(const seen_rank& of, std::span<const seen_rank> ranks) {
  if (of.calls.empty()) return {of.started_ns, of.started_ns};
  const seen_call& last = of.calls.back();
  if (last.ended_ns != 0) return {last.ended_ns, last.ended_ns};
  time_span when{of.started_ns, of.seen_ns};
  for (const seen_call& each : of.calls) {
    when.from_ns = std::max({when.from_ns, each.begun_ns, each.ended_ns});
  }
  if (!waits_for_all(last)) return when;
  const std::int64_t end = end_by_others(of, last, ranks);
  return end == 0 ? when : time_span{end, end};
}

bool is_out_of_action(const seen_rank& one) {
  return one.has_left || one.state == process::gone || process::is_stopped(one.state);
}

verdict judge(std::span<const seen_rank> ranks) {
  const job_view job(ranks);
  verdict found;
  for (const auto& [id, members] : job.teams()) {
    if (auto one = find_mismatch(job, id, members)) found.mismatches.push_back(std::move(*one));
  }
  const waits all(job);
  found.culprits = find_culprits(job, all);
  found.circles = find_circles(job, all);
  found.unseen = find_unseen(ranks);
  return found;
}

const seen_call* call_under_way(const seen_rank& of) {
  const seen_call* found = nullptr;
  for (const seen_call& each : of.calls) {
    if (!is_under_way(each)) continue;
    if (found == nullptr || (found->awaited == 0 && each.awaited != 0)) found = &each;
  }
  return found;
}

std::string name_of_team(std::uint64_t id, std::span<const seen_rank> ranks) {
  constexpr std::uint64_t world = 0;
  constexpr int deepest = 64;  // what was damaged may go in a circle
  std::string rest;
  for (int depth = 0; depth < deepest && id != world; ++depth) {
    const seen_team* const team = find_team(id, ranks);
    if (team == nullptr || team->parent == id) break;
    rest.insert(0, "." + std::to_string(team->turn + 1));
    id = team->parent;
  }
  return (id == world ? "world" : "team " + std::to_string(id)) + rest;
}

}  // namespace muster::why
