#include "tools/library/why/look.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include <muster/base/process_status.hpp>
#include <muster/progress/ticks.hpp>

namespace muster::why {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t read_clock(clockid_t which) noexcept {
  timespec now{};
  ::clock_gettime(which, &now);
  return now.tv_sec * second_ns + now.tv_nsec;
}

// Whatever ranks have put on record.
std::int64_t as_time(std::int64_t ns) noexcept {
  return std::clamp(ns, std::int64_t{0}, last_time_ns);
}

}  // namespace

std::int64_t time_of_day() noexcept { return read_clock(CLOCK_REALTIME); }

char state_of(std::int64_t process, std::int64_t at_ns) noexcept {
  const process_status status(process);
  constexpr std::int64_t set_by_ns = 60 * second_ns;  // the clock may have been, meanwhile
  if (status.state() == 'Z') return process::gone;
  if (status.state() == process::gone) return process::gone;
  const std::int64_t since_boot = status.start() * second_ns / ::sysconf(_SC_CLK_TCK);
  const std::int64_t began = time_of_day() - read_clock(CLOCK_BOOTTIME) + since_boot;
  const bool is_another = began > at_ns + set_by_ns;
  return is_another ? process::gone : status.state();
}

tick_clock::tick_clock(const flight_record& of) noexcept
    : ticks_(of.ticks), ns_(as_time(of.clock_ns)) {
  const auto ticks = static_cast<double>(count_ticks() - ticks_);
  const auto ns = static_cast<double>(time_of_day() - ns_);
  ns_a_tick_ = ticks > 0 && ns > 0 ? ns / ticks : 1;
}

std::int64_t tick_clock::time_of(std::uint64_t ticks) const noexcept {
  constexpr double longest_ns = 4e18;
  const double since = static_cast<double>(static_cast<std::int64_t>(ticks - ticks_)) * ns_a_tick_;
  return as_time(ns_ + static_cast<std::int64_t>(std::clamp(since, -longest_ns, longest_ns)));
}

std::optional<seen_call> look_at(const flight_entry& call, const tick_clock& clock) noexcept {
  seen_call seen;
  // The reader's side of a sequence lock: each acquire keeps the loads after it after it.
  const std::uint64_t word = call.word.load(std::memory_order_acquire);
  seen.kind = call.kind.load(std::memory_order_acquire);
  seen.count = call.count.load(std::memory_order_acquire);
  seen.root = call.root.load(std::memory_order_acquire);
  seen.team = call.team.load(std::memory_order_acquire);
  const std::uint64_t begun = call.begun.load(std::memory_order_acquire);
  const std::uint64_t now = call.now.load(std::memory_order_acquire);
  if (word == 0 || call.word.load(std::memory_order_relaxed) != word) return std::nullopt;
  seen.sequence = static_cast<std::uint32_t>(word >> 32);
  seen.history = static_cast<std::uint32_t>(word);
  if (begun == 0) return seen;
  seen.begun_ns = clock.time_of(begun);
  if ((now & flight_state::ended) != 0) {
    const bool failed = (now & flight_state::failed) != 0;
    seen.is = failed ? seen_call::state::failed : seen_call::state::ended;
    seen.ended_ns = clock.time_of(now & ~(flight_state::ended | flight_state::failed));
  } else {
    seen.is = seen_call::state::under_way;
    seen.first_awaited = now >> 32;
    seen.awaited = now & std::numeric_limits<std::uint32_t>::max();
  }
  return seen;
}

std::optional<seen_team> look_at(const flight_team& team) noexcept {
  seen_team seen;
  // As above.
  seen.ranks = team.ranks.load(std::memory_order_acquire);
  seen.id = team.id.load(std::memory_order_acquire);
  seen.parent = team.parent.load(std::memory_order_acquire);
  seen.turn = team.turn.load(std::memory_order_acquire);
  seen.rank = team.rank.load(std::memory_order_acquire);
  if (seen.ranks == 0 || team.ranks.load(std::memory_order_relaxed) != seen.ranks) {
    return std::nullopt;
  }
  return seen;
}

std::optional<seen_head> look_at_head(const found_record& one) noexcept {
  const flight_record& in = one.of;
  // acquire: who it is was written before.
  const flight_phase phase = in.phase.load(std::memory_order_acquire);
  if (phase == flight_phase::none) return std::nullopt;
  return seen_head{.rank = in.rank,
                   .ranks = in.ranks,
                   .process = in.process,
                   .host = std::string_view(in.host.data(), in.host.size()),
                   .started_ns = as_time(in.clock_ns),
                   .seen_ns = time_of_day(),
                   .state = state_of(in.process, as_time(in.clock_ns)),
                   .looked_ns = tick_clock(in).time_of(in.looked.load(std::memory_order_relaxed)),
                   .is_asleep = one.is_asleep,
                   .has_left = phase == flight_phase::left};
}

std::optional<seen_rank> look_at(const found_record& one) {
  const auto head = look_at_head(one);
  if (!head) return std::nullopt;
  seen_rank seen{*head, {}, {}};
  for_each_team(one.of, [&seen](const seen_team& each) { seen.teams.push_back(each); });
  for_each_call(one.of, [&seen](const seen_call& each) { seen.calls.push_back(each); });
  return seen;
}

void require_rank(const seen_head& one) {
  constexpr std::uint64_t most_ranks = std::uint64_t{1} << 24;
  if (one.rank < one.ranks && one.ranks <= most_ranks) return;
  throw std::runtime_error("rank " + std::to_string(one.rank) + " of " + std::to_string(one.ranks) +
                           "; expected one of a job's ranks");
}

found_record find_record(const std::byte* base, const flight_directory& where,
                         std::size_t index) noexcept {
  const std::byte* const record = base + where.first + index * where.stride;
  const std::byte* const asleep = base + where.first_asleep + index * where.asleep_stride;
  // relaxed: it may change at any time.
  return {*reinterpret_cast<const flight_record*>(record),
          reinterpret_cast<const std::atomic<std::uint32_t>*>(asleep)->load(
              std::memory_order_relaxed) != 0};
}

}  // namespace muster::why
