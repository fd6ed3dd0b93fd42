// What goes wrong: ranks and hosts that end or stop, nodes out of reach, and how the others hear of
// that.

#include <algorithm>

#include "transports/sim/core.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

void simulation::schedule_faults() {
  const sim::faults& all = options_.faults;
  for (const faults::death& one : all.deaths) {
    schedule(from_ns(one.at_ns), event::kind::die, one.rank);
  }
  for (const faults::host_death& one : all.host_deaths) {
    for (const rank* each : nodes_[one.node]->ranks) {
      schedule(from_ns(one.at_ns), event::kind::die_with_host, each->number());
      schedule_silence(each->number(), one.at_ns, faults::for_ever);
    }
  }
  for (const faults::stop& one : all.stops) {
    const auto until = static_cast<std::uint64_t>(from_ns(one.until_ns));
    schedule(from_ns(one.from_ns), event::kind::stop, one.rank, nullptr, until);
    schedule_silence(one.rank, one.from_ns, one.until_ns);
  }
  for (const faults::outage& one : all.outages) {
    if (one.rail != faults::all_rails) continue;
    if (one.until_ns != faults::for_ever) schedule_looks(from_ns(one.until_ns));
    for (const rank* each : nodes_[one.node]->ranks) {
      schedule_silence(each->number(), one.from_ns, one.until_ns);
      schedule_silence_around(each->number(), one.from_ns, one.until_ns);
    }
  }
}

void simulation::schedule_looks(picoseconds when) {
  for (const auto& each : nodes_) {
    schedule(when, event::kind::notice_failure, each->ranks[0]->number());
  }
}

void simulation::schedule_silence(std::size_t of, double from, double until) {
  for (std::size_t observer = 0; observer < size(); ++observer) {
    schedule_loss(observer, of, from, until);
  }
}

void simulation::schedule_silence_around(std::size_t observer, double from, double until) {
  for (std::size_t of = 0; of < size(); ++of) schedule_loss(observer, of, from, until);
}

void simulation::schedule_loss(std::size_t observer, std::size_t lost, double from, double until) {
  const double silence = options_.faults.silence_ns;
  if (silence == 0 || shape_->node_of(observer) == shape_->node_of(lost)) return;
  const double at = from + silence * (1 + random_.fraction() / 8);
  if (at < until) schedule(from_ns(at), event::kind::lose, observer, nullptr, lost);
}

// ---- ends

void simulation::end_rank(sim::rank& one) noexcept {
  --running_;
  one.die();
  gathering_->give_up(one.number());
  meet_if_all_came();
}

void simulation::die(sim::rank& one) noexcept {
  if (one.is_over() || one.is_dead()) return;
  end_rank(one);
  schedule(now_ + from_ns(options_.faults.noticed_after_ns), event::kind::notice_death,
           one.number());
}

void simulation::die_with_host(sim::rank& one) noexcept {
  one.node_.is_gone = true;
  if (!one.is_over() && !one.is_dead()) end_rank(one);
}

// ---- lives

void simulation::end_life(std::size_t number, wire::liveness how) noexcept {
  states_[number] = how;
  ended_at_[number] = now_;
}

// All that a rank said is heard before it is seen to have left. Where something was lost, nobody
// hears of its leaving, either.
wire::liveness simulation::state(std::size_t observer, std::size_t number) const noexcept {
  if (has_lost(observer, number)) return wire::liveness::died;
  const wire::liveness end = states_[number];
  const bool left = end == wire::liveness::left;
  const bool is_heard =
      (all_heard(number) && !misses(observer, number)) || has(defect::left_unheard);
  const bool is_seen = is_end_told(observer, number) && (is_heard || !left);
  return is_seen ? end : wire::liveness::alive;
}

bool simulation::is_end_told(std::size_t observer, std::size_t number) const noexcept {
  if (!outages_.any() || shape_->node_of(observer) == shape_->node_of(number)) return true;
  return passes(number, observer, ended_at_[number], 0) <= now_;
}

bool simulation::is_apart(std::size_t number) const noexcept {
  for (std::size_t other = 0; other < size(); ++other) {
    if (has_lost(number, other) || has_lost(other, number)) return true;
  }
  return false;
}

void simulation::lose(std::size_t observer, std::size_t number) noexcept {
  if (ranks_[observer].is_dead() || has_lost(observer, number)) return;
  if (state(observer, number) == wire::liveness::left) return;  // it is not missed
  lost_[observer * size() + number] = true;
  look(ranks_[observer]);
  if (has(defect::lost_on_one_side)) return;
  // The other one is told that their connection has ended, as soon as it can be.
  const picoseconds there = passes(observer, number, now_, disturbed(costs_.latency));
  if (there != outages::never) schedule(there, event::kind::lose, number, nullptr, observer);
}

// ---- ways

picoseconds simulation::passes(std::size_t from, std::size_t to, picoseconds leaves,
                               picoseconds takes) const noexcept {
  const picoseconds begins = outages_.passes(shape_->node_of(from), faults::all_rails, leaves);
  if (begins == outages::never) return begins;
  return outages_.passes(shape_->node_of(to), faults::all_rails, begins + takes);
}

bool simulation::is_cut_off(const message& sent) const noexcept {
  return has_lost(sent.from, sent.to) || has_lost(sent.to, sent.from) ||
         nodes_[shape_->node_of(sent.from)]->is_gone;
}

void simulation::drop(message& lost) noexcept {
  channel& on = *lost.on;
  hear(lost.from);
  if (!missed_.empty()) missed_[lost.to * size() + lost.from] = true;
  if (lost.leaves_later) schedule(now_, event::kind::left, lost.from, &on, lost.from_byte);
  on.lose(lost);
}

picoseconds simulation::rail_is_back(std::size_t node, std::size_t rail) const noexcept {
  if (rail != node_interfaces::all_rails) return outages_.passes(node, rail, now_);
  picoseconds all = now_;
  for (std::size_t each = 0; each < model_.network.rails; ++each) {
    all = std::max(all, outages_.passes(node, each, now_));
  }
  return all;
}

bool simulation::waits_for_rail(std::size_t node, message& sent, const event& one) {
  if (!outages_.any()) return false;
  picoseconds back = outages_.passes(node, faults::all_rails, now_);
  if (back == now_) {
    // Another rail may carry it before its own one is back.
    back = rail_is_back(node, sent.rail);
    if (back == now_) return false;
    const picoseconds again = now_ + from_ns(options_.faults.resent_after_ns);
    if (model_.network.rails > 1) back = std::min(back, again);
  }
  if (back == outages::never || has(defect::lost_while_cut_off)) {
    drop(sent);
  } else {
    schedule(back + disturbed(costs_.latency), one.what, one.rank, &sent, 1);
  }
  return true;
}

// ---- failures

void simulation::break_on(std::size_t node, std::uint64_t team, const wire::failure& why) noexcept {
  if (ending_) return;
  failure_record* record = &nodes_[node]->failure;
  if (team != 0) {
    const auto known = teams_.find(team);
    if (known == teams_.end()) return;
    // What a broken job ends is no failure of its own.
    if (record->why() && !known->second->is_of_survivors()) return;
    record = &known->second->failure_on(node);
  }
  if (!record->fail(why)) return;
  schedule(now_ + costs_.latency, event::kind::notice_failure, nodes_[node]->ranks[0]->number());
}

void simulation::tell_failure(std::size_t from, std::uint64_t team,
                              const wire::failure& why) noexcept {
  const std::size_t here = shape_->node_of(from);
  picoseconds leaves = ranks_[from].local_time();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (node == here || (team != 0 && !team_at(team).is_on(node))) continue;
    leaves += costs_.send;
    told_.push_back({.from = from, .node = node, .team = team, .why = why});
    say(from);
    schedule(disturbed(leaves - now_) + now_, event::kind::tell, from, nullptr, told_.size() - 1);
  }
}

void simulation::tell(const event& one) {
  const news& what = told_[one.value];
  const auto is_open = [&](const rank* each) { return !has_lost(what.from, each->number()); };
  const auto& there = nodes_[what.node]->ranks;
  if (ranks_[what.from].is_dead() || std::ranges::none_of(there, is_open)) return hear(what.from);
  if (waits_at(shape_->node_of(what.from), one)) return;
  schedule(now_ + disturbed(costs_.latency), event::kind::told, what.from, nullptr, one.value);
}

void simulation::hear_told(const event& one) {
  const news& what = told_[one.value];
  node& there = *nodes_[what.node];
  if (!there.is_gone && waits_at(what.node, one)) return;
  hear(what.from);
  const auto hears = [&](const rank* each) {
    return !each->is_dead() && !has_lost(each->number(), what.from);
  };
  if (std::ranges::any_of(there.ranks, hears)) break_on(what.node, what.team, what.why);
}

bool simulation::waits_at(std::size_t node, const event& one) {
  const picoseconds back = outages_.passes(node, faults::all_rails, now_);
  if (back == now_) return false;
  if (back == outages::never) {
    hear(one.rank);
  } else {
    schedule(back + disturbed(costs_.latency), one.what, one.rank, nullptr, one.value);
  }
  return true;
}

// ---- looks

void simulation::look(sim::rank& one) noexcept {
  one.to_check_ = true;
  one.wake();
}

void simulation::look_on(std::size_t node) noexcept {
  for (sim::rank* const each : nodes_[node]->ranks) look(*each);
}

void simulation::all_look() noexcept {
  for (sim::rank& each : ranks_) look(each);
}

}  // namespace muster::sim
