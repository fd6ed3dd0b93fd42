// What was seen of ranks at some moment: who they are, and their last calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/fixed_text.hpp>
#include <muster/base/process_status.hpp>

namespace muster::why {

/// The latest time that there is: two up to it may be taken from each other.
inline constexpr std::int64_t last_time_ns = std::int64_t{1} << 62;

/// A collective call of one rank. Times are nanoseconds of the day's clock, since 1970.
struct seen_call {
  enum class state : std::uint8_t {
    under_way,
    ended,  ///< well
    failed,
  };

  std::uint64_t team = 0;      ///< see `team::id`
  std::uint32_t sequence = 0;  ///< in the team's order, from 1 on
  std::uint32_t history = 0;   ///< a hash of all the team's calls up to this one
  std::uint64_t kind = 0;      ///< see `wire::call_record`
  std::uint64_t count = 0;
  std::uint64_t root = 0;
  std::int64_t begun_ns = 0;  ///< 0: not on record, since it had to wait for nothing
  std::int64_t ended_ns = 0;  ///< 0: the same, or it has not
  state is = state::ended;
  std::uint64_t awaited = 0;        ///< ranks that it waits for; 0: not known
  std::uint64_t first_awaited = 0;  ///< the first of them, in the team
};

struct seen_team {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t turn = 0;   ///< how many were made of the parent before
  std::uint64_t ranks = 0;  ///< how many it has
  std::uint64_t rank = 0;   ///< this rank's in it
};

/// What the system says of a process, by its own letters: R runs, S and D sleep, T and t are
/// stopped; X is gone.
namespace process {
inline constexpr char unknown = '?';
inline constexpr char gone = process_status::gone;
inline constexpr bool is_stopped(char state) noexcept { return state == 'T' || state == 't'; }
}  // namespace process

/// Who a rank is, and how it is: without memory that would have to be allocated.
struct seen_head {
  std::uint64_t rank = 0;   ///< of the job
  std::uint64_t ranks = 0;  ///< of the job, on all machines
  std::int64_t process = 0;
  fixed_text<64> host;
  std::int64_t started_ns = 0;
  std::int64_t seen_ns = 0;  ///< when this was so
  char state = process::unknown;
  /// When its engine last looked why a call goes on waiting, and whether it sleeps now until there
  /// is something to look at.
  std::int64_t looked_ns = 0;
  bool is_asleep = false;
  bool has_left = false;
};

struct seen_rank : seen_head {
  std::vector<seen_team> teams;
  std::vector<seen_call> calls;  ///< in the order in which they began
};

}  // namespace muster::why
