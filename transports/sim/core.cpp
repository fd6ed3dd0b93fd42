#include "transports/sim/core.hpp"

#include <algorithm>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {
namespace {

/// Whether a rank looks again and again at what it waits for.
bool takes_turns(const rank& one) { return !one.is_asleep() && !one.is_over() && !one.is_dead(); }

}  // namespace

void core::add(rank& one) {
  ranks_.push_back(&one);
  // From two ranks to eight, a switch costs more with each: caches and translations are lost.
  constexpr std::size_t crowd = 8;
  const auto more = static_cast<picoseconds>(std::min(ranks_.size(), crowd)) - 2;
  const auto& costs = in_.costs();
  switch_ = costs.core_switch + (costs.crowded_switch - costs.core_switch) *
                                    std::max<picoseconds>(more, 0) /
                                    static_cast<picoseconds>(crowd - 2);
}

void core::request(rank& one) noexcept {
  const picoseconds now = in_.now();
  if (holding_ && ranks_[at_] == &one) {
    holding_ = false;
    schedule_turn(std::max(now, free_));
  } else if (is_shared()) {
    if (!turning_) catch_up();
  } else if (free_ > now) {
    in_.schedule(free_, event::kind::run, one.number());
  } else {
    one.look();
  }
}

void core::catch_up() noexcept {
  const auto all = static_cast<picoseconds>(awake());
  const picoseconds passed = std::max<picoseconds>(in_.now() - since_, 0);
  const picoseconds turns = all > 1 && switch_ > 0 ? (passed + switch_ - 1) / switch_ : 0;
  for (picoseconds i = turns % all; i > 0; --i) at_ = next_awake(at_);
  turning_ = true;
  schedule_turn(std::max(in_.now(), since_ + turns * switch_));
}

bool core::anyone_pending() const noexcept {
  return std::ranges::any_of(ranks_, [](const rank* each) { return each->pending_; });
}

std::size_t core::awake() const noexcept {
  const auto count =
      std::ranges::count_if(ranks_, [](const rank* each) { return takes_turns(*each); });
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 1));
}

std::size_t core::next_awake(std::size_t after) const noexcept {
  for (std::size_t i = 1; i <= ranks_.size(); ++i) {
    const std::size_t next = (after + i) % ranks_.size();
    if (takes_turns(*ranks_[next])) return next;
  }
  return after;
}

void core::schedule_turn(picoseconds when) noexcept {
  in_.schedule(when, event::kind::turn, ranks_[at_]->number(), nullptr, ++last_turn_);
}

void core::release(rank& one) noexcept {
  if (!is_shared()) return;
  if (one.engine().awaits_other_cores_only() && awake() > 1) {
    holding_ = true;
    schedule_turn(std::max(in_.now(), free_) + switch_);
  } else {
    pass_on();
  }
}

void core::pass_on() noexcept {
  const picoseconds from = std::max(in_.now(), free_);
  const std::size_t next = next_awake(at_);
  since_ = next == at_ ? from : from + switch_;
  at_ = next;
  turning_ = anyone_pending();
  if (turning_) schedule_turn(since_);
}

void core::turn(std::uint64_t number) noexcept {
  if (number != last_turn_) return;
  if (paused_until_ > in_.now()) return schedule_turn(paused_until_);
  holding_ = false;
  if (ranks_[at_]->pending_) {
    ranks_[at_]->look();  // and releases the core, now or when its work is done
  } else {
    pass_on();
  }
}

}  // namespace muster::sim
