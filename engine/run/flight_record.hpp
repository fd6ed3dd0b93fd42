#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <muster/wire/cache_line.hpp>

/// What each rank keeps of its last calls, in memory that others look into without its help: while
/// it hangs, is stopped, or is dead.
namespace muster {

/// A call. Its rank writes it when the call begins; `begun` and `now` only where not all that it
/// needs is there at the first look, and they mean nothing while `begun` is 0: the call has ended.
struct alignas(wire::cache_line) flight_entry {
  std::atomic<std::uint64_t> word;   ///< sequence number and rolling fingerprint, as announced; 0:
                                     ///< of no call, or of one that is being written
  std::atomic<std::uint64_t> kind;   ///< see `wire::call_record`, like the next two
  std::atomic<std::uint64_t> count;  ///< as far as all ranks know it
  std::atomic<std::uint64_t> root;
  std::atomic<std::uint64_t> team;   ///< see `team::id`
  std::atomic<std::uint64_t> begun;  ///< in ticks
  std::atomic<std::uint64_t> now;    ///< see `flight_state`
};

/// What a call's `now` says: nothing yet, for whom it waits, or when it ended.
struct flight_state {
  static constexpr std::uint64_t ended = std::uint64_t{1} << 63;  ///< with the ticks of the end
  static constexpr std::uint64_t failed = std::uint64_t{1} << 62;

  static constexpr std::uint64_t waits(std::size_t rank, std::size_t count) noexcept {
    return static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint32_t>(count);
  }
};

/// A team of the rank.
struct flight_team {
  std::atomic<std::uint64_t> ranks;  ///< 0: none, or one that is being written
  std::atomic<std::uint64_t> id;
  std::atomic<std::uint64_t> parent;  ///< the team that it was made from; its own, if from none
  std::atomic<std::uint64_t> turn;    ///< how many were made from that before
  std::atomic<std::uint64_t> rank;    ///< this one's in the team
};

enum class flight_phase : std::uint32_t { none, running, left };

/// Of a rank: who it is, its teams and its last calls.
struct flight_record {
  static constexpr std::size_t most_calls = 256;
  static constexpr std::size_t most_teams = 48;

  std::atomic<flight_phase> phase;  ///< `none`: the rest means nothing yet
  std::int32_t process;
  std::uint64_t rank;  ///< of the job
  std::uint64_t ranks;
  std::uint64_t ticks;    ///< when it began,
  std::int64_t clock_ns;  ///< and the time of day then, since 1970
  /// When its engine last looked why a call goes on waiting: some 10 ms ago, unless it sleeps, or
  /// nobody drives it.
  std::atomic<std::uint64_t> looked;
  std::array<char, 64> host;
  std::atomic<std::uint8_t> next;  ///< where the next call goes, in place of the oldest
  std::array<flight_team, most_teams> teams;
  std::array<flight_entry, most_calls> calls;
};

/// Where the records of a job's ranks are in a segment of memory: a little in its beginning that
/// stays as it is from version to version.
struct flight_directory {
  static constexpr std::uint64_t right_magic = 0x5448'4749'4c46'754d;  // "MuFLIGHT"
  static constexpr std::uint32_t this_layout = 1;
  static constexpr std::size_t place = 8;  ///< in the segment

  std::uint64_t magic;
  std::uint32_t layout;  ///< of `flight_record`
  std::uint32_t ranks;
  std::uint64_t first;   ///< where the first rank's record is in the segment
  std::uint64_t stride;  ///< from one rank's to the next
  /// The same of a word that is not zero while the rank's engine sleeps.
  std::uint64_t first_asleep;
  std::uint64_t asleep_stride;
  /// When the ranks' records were last written to files, by cause.
  std::array<std::atomic<std::int64_t>, 2> written_ns;
};

}  // namespace muster
