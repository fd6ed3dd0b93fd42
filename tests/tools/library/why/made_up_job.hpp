// Jobs as they may be seen, made up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/select/recorded_call.hpp>

#include "tools/library/why/analysis.hpp"
#include "tools/library/why/snapshot.hpp"

namespace muster::why::testing {

inline constexpr std::int64_t second = 1'000'000'000;
inline constexpr std::int64_t began = 1000 * second;  // the job
inline constexpr std::int64_t seen = began + 100 * second;

/// Ranks whose calls are those of `history`, which ended long ago.
class made_up_job {
public:
  explicit made_up_job(std::size_t ranks) : ranks_(ranks) {
    for (std::size_t i = 0; i < ranks; ++i) {
      ranks_[i] = {seen_head{.rank = i,
                             .ranks = ranks,
                             .process = static_cast<std::int64_t>(100 + i),
                             .host = std::string_view("here"),
                             .started_ns = began,
                             .seen_ns = seen,
                             .state = 'S',
                             .is_asleep = true},
                   {{.ranks = ranks, .rank = i}},
                   {}};
    }
  }

  seen_rank& operator[](std::size_t rank) { return ranks_[rank]; }
  operator std::span<const seen_rank>() const { return ranks_; }
  std::vector<seen_rank> take() { return std::move(ranks_); }
  void forget(std::size_t rank) {
    ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(rank));
  }

  /// A team of some ranks.
  void add_team(std::uint64_t id, const std::vector<std::size_t>& members, std::uint64_t turn = 0,
                std::uint64_t parent = 0) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      ranks_[members[i]].teams.push_back(
          {.id = id, .parent = parent, .turn = turn, .ranks = members.size(), .rank = i});
    }
  }

  /// The next call of a rank on a team. \param history what it and those before come to
  seen_call& call(std::size_t rank, const arguments& what, std::uint64_t team = 0) {
    std::vector<seen_call>& calls = ranks_[rank].calls;
    std::uint32_t sequence = 1;
    std::uint32_t history = 17;
    for (const seen_call& each : calls) {
      if (each.team != team) continue;
      sequence = each.sequence + 1;
      history = each.history;
    }
    const std::uint64_t kind = pack_kind(what, 0);
    history = history * 31 + static_cast<std::uint32_t>(kind + what.count + what.root);
    const std::int64_t begun = seen - 50 * second + static_cast<std::int64_t>(calls.size());
    return calls.emplace_back(seen_call{.team = team,
                                        .sequence = sequence,
                                        .history = history,
                                        .kind = kind,
                                        .count = what.count,
                                        .root = what.root,
                                        .begun_ns = begun,
                                        .ended_ns = begun});
  }
  void call_on_all(const arguments& what) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) call(i, what);
  }
  /// One that is under way, waiting for so many, the first of them a rank of the team.
  seen_call& wait(std::size_t rank, const arguments& what, std::size_t first, std::size_t count = 1,
                  std::uint64_t team = 0) {
    seen_call& made = call(rank, what, team);
    made.is = seen_call::state::under_way;
    made.ended_ns = 0;
    made.first_awaited = first;
    made.awaited = count;
    return made;
  }

private:
  std::vector<seen_rank> ranks_;
};

inline arguments an_allreduce() {
  arguments call;
  call.what = collective::allreduce;
  call.type = datatype::float64;
  call.op = reduction::sum;
  call.count = 4;
  return call;
}

inline arguments a_bcast(std::size_t root) {
  arguments call;
  call.what = collective::bcast;
  call.type = datatype::int32;
  call.count = 1;
  call.root = root;
  return call;
}

inline arguments a_barrier() { return {}; }

}  // namespace muster::why::testing
