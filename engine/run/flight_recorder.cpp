#include <muster/run/flight_recorder.hpp>

#include <algorithm>

namespace muster {

flight_recorder::flight_recorder(flight_record& in, const rank_identity& of) noexcept
    : record_(in) {
  // Written now, the memory is there when calls are to be quick.
  record_.phase.store(flight_phase::none, std::memory_order_relaxed);
  for (flight_team& each : record_.teams) each.ranks.store(0, std::memory_order_relaxed);
  record_.next.store(0, std::memory_order_relaxed);
  for (flight_entry& each : record_.calls) each.word.store(0, std::memory_order_relaxed);
  record_.process = of.process;
  record_.rank = of.rank;
  record_.ranks = of.ranks;
  record_.ticks = count_ticks();
  record_.looked.store(record_.ticks, std::memory_order_relaxed);
  record_.clock_ns = of.clock_ns;
  record_.host.fill('\0');
  std::copy_n(of.host.begin(), std::min(of.host.size(), record_.host.size() - 1),
              record_.host.begin());
  // release: whoever sees it running sees who it is.
  record_.phase.store(flight_phase::running, std::memory_order_release);
}

flight_recorder::~flight_recorder() {
  // release: all that it did comes before.
  record_.phase.store(flight_phase::left, std::memory_order_release);
}

void flight_recorder::add(const team_identity& one) noexcept {
  constexpr std::size_t derived = flight_record::most_teams - 1;
  const std::size_t place = teams_ == 0 ? 0 : 1 + (teams_ - 1) % derived;
  ++teams_;
  flight_team& at = record_.teams[place];
  // Each release keeps the stores before it before it; what is read in between has no ranks.
  at.ranks.store(0, std::memory_order_relaxed);
  at.id.store(one.id, std::memory_order_release);
  at.parent.store(one.parent, std::memory_order_release);
  at.turn.store(one.turn, std::memory_order_release);
  at.rank.store(one.rank, std::memory_order_release);
  at.ranks.store(one.ranks, std::memory_order_release);
}

}  // namespace muster
