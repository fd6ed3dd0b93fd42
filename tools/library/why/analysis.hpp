// Who is late, in which call, and who waits for whom: found in what was seen of a job's ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/library/why/snapshot.hpp"

namespace muster::why {

/// A call of a team, whatever the ranks make of it.
struct call_place {
  std::uint64_t team = 0;
  std::uint32_t sequence = 0;

  friend bool operator==(const call_place&, const call_place&) = default;
};

/// Ranks of the job that called the same.
struct callers {
  std::vector<std::uint64_t> ranks;
  seen_call what;  ///< of the first of them
};

/// The first call of a team in which ranks called different things.
struct mismatch {
  call_place at;
  bool is_first = true;  ///< false: ranks may have differed before, in calls no longer on record
  std::vector<callers> groups;  ///< the largest first
};

/// A rank for which others wait, and which waits for nobody.
struct culprit {
  std::uint64_t rank = 0;
  bool has_come = false;               ///< it is in that call, or beyond
  call_place missed;                   ///< the first call in which others wait for it
  seen_call theirs;                    ///< what they call there
  std::vector<std::uint64_t> waiting;  ///< those, and those who wait for them in turn
  std::int64_t longest_ns = 0;         ///< of their waits
};

/// Ranks that wait for each other: each waits for the next, and the last for the first.
struct circle {
  std::vector<std::uint64_t> ranks;
  std::vector<seen_call> calls;  ///< in which each does
};

struct verdict {
  std::vector<mismatch> mismatches;
  std::vector<culprit> culprits;  ///< those for whom most wait first
  std::vector<circle> circles;
  std::vector<std::uint64_t> unseen;  ///< ranks of the job of which nothing is known
};

/// \param ranks of one job, each once, in their order
verdict judge(std::span<const seen_rank> ranks);

/// Between two times, which are the same where one is on record.
struct time_span {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};
/// When a rank's last call ended, or when the rank began where there is none. Where that is not on
/// record, by what was: by its calls before, and by those who waited for it in the same call.
time_span end_of_last_call(const seen_rank& of, std::span<const seen_rank> ranks);

/// One that cannot go on, whatever its calls say: it has left, is dead or stopped.
bool is_out_of_action(const seen_rank& one);

/// The oldest call that a rank has begun and not ended, of those that wait for others first.
const seen_call* call_under_way(const seen_rank& of);

/// How a team is called: "world", or "world.2": the second that was made of it.
std::string name_of_team(std::uint64_t id, std::span<const seen_rank> ranks);

}  // namespace muster::why
