#include "tools/library/why/page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <vector>

#include <muster/select/recorded_call.hpp>
#include <muster/wire/call_record.hpp>

namespace muster::why {
namespace {

constexpr std::size_t most_lines = 12;  // of a section

std::string seconds(std::int64_t ns) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

/// "1.5 s", or "0.1 to 1.5 s" where it may be anything between.
std::string range(std::int64_t least_ns, std::int64_t most_ns) {
  const std::string least = seconds(least_ns);
  const std::string most = seconds(most_ns);
  return least == most ? most : least.substr(0, least.size() - 2) + " to " + most;
}

std::string time_of(std::int64_t ns) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  const std::time_t when = ns / second_ns;
  std::tm parts{};
  ::localtime_r(&when, &parts);
  std::array<char, 64> text;
  std::strftime(text.data(), text.size(), "%F %T", &parts);
  return text.data();
}

std::string words_of(const seen_call& call) {
  return describe(wire::recorded_call{.kind = call.kind, .count = call.count, .root = call.root});
}

std::string word_for(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "sleeping in the kernel";
    case 'T':
    case 't':
      return "stopped";
    case process::gone:
      return "dead";
    default:
      return "in a state unknown here";
  }
}

std::string word_for(const seen_rank& one) { return one.has_left ? "left" : word_for(one.state); }

class writer {
public:
  writer(std::span<const seen_rank> ranks) : ranks_(ranks), found_(judge(ranks)) {}

  std::string write(std::string_view reason) {
    head(reason);
    for (const mismatch& each : some(found_.mismatches)) add(each);
    for (const culprit& each : some(found_.culprits)) add(each);
    for (const circle& each : some(found_.circles)) add(each);
    if (found_.mismatches.empty() && found_.culprits.empty() && found_.circles.empty()) {
      text_ += "Nobody waits for a rank in a collective call.\n";
    }
    if (!found_.unseen.empty()) {
      text_ += "Nothing is known here of " + ranks(found_.unseen) +
               ", perhaps of other machines: who is late may be among them.\n";
    }
    table();
    teams();
    return std::move(text_);
  }

private:
  /// What fits on the page.
  template <class List>
  static std::span<const typename List::value_type> some(const List& all) {
    return std::span(all).first(std::min(all.size(), most_lines));
  }
  static std::string ranks(std::span<const std::uint64_t> which) {
    return (which.size() == 1 ? "rank " : "ranks ") + list_of(which);
  }
  std::string place(const call_place& at) {
    named_.insert(at.team);
    return "call " + std::to_string(at.sequence) + " of " + name_of_team(at.team, ranks_);
  }
  std::string place(const seen_call& call) { return place(call_place{call.team, call.sequence}); }
  const seen_rank& find(std::uint64_t rank) const {
    return *std::ranges::find(ranks_, rank, &seen_rank::rank);
  }

  void head(std::string_view reason) {
    if (ranks_.empty()) return;
    const auto latest = std::ranges::max_element(ranks_, {}, &seen_rank::seen_ns);
    text_ += "Job of " + std::to_string(ranks_.front().ranks) + " ranks, seen " +
             time_of(latest->seen_ns) + (reason.empty() ? "" : ": " + std::string(reason)) + "\n\n";
  }

  void add(const mismatch& one) {
    text_ += "MISMATCH in " + place(one.at) + ": ";
    for (std::size_t i = 0; i < one.groups.size(); ++i) {
      const callers& each = one.groups[i];
      text_ += (i == 0 ? "" : "; ") + ranks(each.ranks) + " called " + words_of(each.what);
    }
    if (!names_differ(one)) text_ += ", of other blocks, elements or algorithm";
    if (!one.is_first) text_ += ". An earlier call, not on record any more, may have differed";
    text_ += ".\n";
  }
  static bool names_differ(const mismatch& one) {
    const std::string first = words_of(one.groups.front().what);
    return std::ranges::any_of(one.groups,
                               [&](const callers& each) { return words_of(each.what) != first; });
  }

  void add(const culprit& one) {
    const seen_rank& rank = find(one.rank);
    text_ += (one.has_come ? "STUCK: rank " : "LATE: rank ") + std::to_string(one.rank) +
             " (process " + std::to_string(rank.process) + " on " + std::string(rank.host.view()) +
             ", " + word_for(rank) + ") ";
    const std::string call = place(one.missed) + ", " + words_of(one.theirs);
    if (!one.has_come) {
      text_ += "has not come to " + call + ".\n";
    } else if (is_out_of_action(rank)) {
      text_ += "is in " + call + ", and does not go on.\n";
    } else {
      text_ += "is in " + call + ", and does not go on: nobody drives its engine.\n";
    }
    text_ += "  " + last_call(rank) + "\n  For it " +
             (one.waiting.size() == 1 ? "waits " : "wait ") + ranks(one.waiting) +
             ", the longest for " + seconds(one.longest_ns) + ".\n";
  }
  std::string last_call(const seen_rank& of) {
    if (of.calls.empty()) return "It has made no collective call.";
    const seen_call& last = of.calls.back();
    const std::string what = place(last) + ", " + words_of(last) + ", ";
    if (last.is == seen_call::state::under_way) {
      return "It began " + what + seconds(of.seen_ns - last.begun_ns) + " ago.";
    }
    const time_span end = end_of_last_call(of, ranks_);
    return "Its last was " + what + (last.is == seen_call::state::failed ? "failed " : "ended ") +
           range(of.seen_ns - end.to_ns, of.seen_ns - end.from_ns) + " ago.";
  }

  void add(const circle& one) {
    text_ += "CIRCLE: ranks wait for each other, in calls of other teams or in another order:\n";
    for (std::size_t i = 0; i < one.ranks.size(); ++i) {
      text_ += "  rank " + std::to_string(one.ranks[i]) + " waits in " + place(one.calls[i]) +
               ", " + words_of(one.calls[i]) + ", for rank " +
               std::to_string(one.ranks[(i + 1) % one.ranks.size()]) + "\n";
    }
  }

  // ---- all ranks, those alike on one line

  std::string line_of(const seen_rank& of) {
    const std::string state = word_for(of) + ", ";
    const seen_call* const call = call_under_way(of);
    if (call == nullptr && of.calls.empty()) return state + "has made no call";
    if (call == nullptr) {
      const seen_call& last = of.calls.back();
      return state + "after " + place(last) + ", " + words_of(last) +
             (last.is == seen_call::state::failed ? ", which failed" : "");
    }
    std::string line = state + "in " + place(*call) + ", " + words_of(*call);
    if (call->awaited != 0) {
      line += ", waits for rank " + name_of_awaited(*call);
      if (call->awaited > 1) line += " and " + std::to_string(call->awaited - 1) + " more";
    }
    return line;
  }
  /// By its rank in the job, where that is known.
  std::string name_of_awaited(const seen_call& call) const {
    for (const seen_rank& each : ranks_) {
      for (const seen_team& team : each.teams) {
        if (team.id == call.team && team.rank == call.first_awaited) {
          return std::to_string(each.rank);
        }
      }
    }
    return std::to_string(call.first_awaited) + " of the team";
  }
  /// Since when a rank is where it is.
  time_span since(const seen_rank& of) const {
    const seen_call* const call = call_under_way(of);
    if (call != nullptr) return {call->begun_ns, call->begun_ns};
    return end_of_last_call(of, ranks_);
  }

  struct alike {
    std::vector<std::uint64_t> ranks;
    std::int64_t least_ns = 0;  // of the rank that is longest there
    std::int64_t most_ns = 0;
  };
  void table() {
    std::vector<std::string> order;
    std::map<std::string, alike> lines;
    for (const seen_rank& each : ranks_) {
      std::string line = line_of(each);
      alike& one = lines[line];
      if (one.ranks.empty()) order.push_back(std::move(line));
      one.ranks.push_back(each.rank);
      const time_span begin = since(each);
      one.least_ns = std::max(one.least_ns, each.seen_ns - begin.to_ns);
      one.most_ns = std::max(one.most_ns, each.seen_ns - begin.from_ns);
    }
    text_ += "\nRanks\n";
    for (const std::string& line : some(order)) {
      const alike& one = lines[line];
      text_ += "  " + list_of(one.ranks) + ": " + line + ", for " +
               range(one.least_ns, one.most_ns) + "\n";
    }
    say_rest(order.size());
  }
  void say_rest(std::size_t all) {
    if (all <= most_lines) return;
    text_ += "  and " + std::to_string(all - most_lines) + " more, see --json\n";
  }

  /// Those that were named, but the job's own.
  void teams() {
    std::map<std::uint64_t, std::vector<std::uint64_t>> members;
    for (const seen_rank& rank : ranks_) {
      for (const seen_team& team : rank.teams) {
        if (team.parent == team.id || !named_.contains(team.id)) continue;
        members[team.id].push_back(rank.rank);
      }
    }
    if (members.empty()) return;
    text_ += "\nTeams\n";
    std::size_t shown = 0;
    for (const auto& [id, those] : members) {
      if (++shown > most_lines) break;
      text_ += "  " + name_of_team(id, ranks_) + ": " + ranks(those) + "\n";
    }
    say_rest(members.size());
  }

  std::span<const seen_rank> ranks_;
  verdict found_;
  std::set<std::uint64_t> named_;  // teams
  std::string text_;
};

}  // namespace

std::string list_of(std::span<const std::uint64_t> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text += (end - i > 2 ? "-" : ", ") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string page(std::string_view reason, std::span<const seen_rank> ranks) {
  return writer(ranks).write(reason);
}

}  // namespace muster::why
