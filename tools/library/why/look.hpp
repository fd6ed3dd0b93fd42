// Looking into a rank's flight record, its own or another's. What is `noexcept` here may be called
// by a signal's handler: it takes no lock and no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/run/flight_record.hpp>

#include "tools/library/why/snapshot.hpp"

namespace muster::why {

/// Nanoseconds since 1970.
std::int64_t time_of_day() noexcept;

/// What the system says of a process that a rank said to be, at a time; `gone` where another has
/// its number.
char state_of(std::int64_t process, std::int64_t at_ns) noexcept;

/// Makes times of a record's ticks: by what both clocks said when it began, and say now.
class tick_clock {
public:
  explicit tick_clock(const flight_record& of) noexcept;
  std::int64_t time_of(std::uint64_t ticks) const noexcept;

private:
  std::uint64_t ticks_;
  std::int64_t ns_;
  double ns_a_tick_;
};

/// A call on record; nothing where there is none, or it is being written.
std::optional<seen_call> look_at(const flight_entry& call, const tick_clock& clock) noexcept;
std::optional<seen_team> look_at(const flight_team& team) noexcept;

/// Calls `see` with all that are on record.
template <class See>
void for_each_team(const flight_record& in, See see) {
  for (const flight_team& each : in.teams) {
    if (const auto team = look_at(each)) see(*team);
  }
}
/// The same, the oldest call first.
template <class See>
void for_each_call(const flight_record& in, See see) {
  const tick_clock clock(in);
  // relaxed: a call that begins meanwhile is at worst taken for the oldest.
  const std::size_t oldest = in.next.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < in.calls.size(); ++i) {
    if (const auto call = look_at(in.calls[(oldest + i) % in.calls.size()], clock)) see(*call);
  }
}

/// A record in a segment that has those of a machine's ranks.
struct found_record {
  const flight_record& of;
  bool is_asleep;  ///< the rank's engine is
};
/// \param base of the segment
found_record find_record(const std::byte* base, const flight_directory& where,
                         std::size_t index) noexcept;

/// Who keeps it; nothing where no rank does.
std::optional<seen_head> look_at_head(const found_record& one) noexcept;
/// All of it, likewise.
std::optional<seen_rank> look_at(const found_record& one);

/// \throws std::runtime_error where it is none of its job's ranks, or that has more than can be
void require_rank(const seen_head& one);

}  // namespace muster::why
