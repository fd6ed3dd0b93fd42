#include "transports/sim/core.hpp"

#include <algorithm>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

void core::request(rank& one, bool asleep) noexcept {
  const picoseconds now = in_.now();
  if (asleep) {
    in_.schedule(now + in_.costs().wake, event::kind::run, one);
    return;
  }
  if (is_shared()) {
    if (!turning_) {
      // Those awake have been giving the core to each other all the time.
      const std::size_t all = awake();
      const picoseconds turn = in_.costs().turn;
      const picoseconds passed = std::max<picoseconds>(now - since_, 0);
      const auto turns = all > 1 && turn > 0 ? (passed + turn - 1) / turn : 0;
      for (auto i = turns % static_cast<picoseconds>(all); i > 0; --i) at_ = next_awake(at_);
      turning_ = true;
      in_.schedule(std::max(now, since_ + turns * turn), event::kind::turn, *ranks_[at_]);
    }
    return;
  }
  if (free_ > now) {
    in_.schedule(free_, event::kind::run, one);
  } else {
    one.look();
  }
}

bool core::anyone_pending() const noexcept {
  return std::ranges::any_of(ranks_, [](const rank* each) { return each->pending_; });
}

std::size_t core::awake() const noexcept {
  const auto count = std::ranges::count_if(
      ranks_, [](const rank* each) { return !each->is_asleep() && !each->is_over(); });
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 1));
}

std::size_t core::next_awake(std::size_t after) const noexcept {
  for (std::size_t i = 1; i <= ranks_.size(); ++i) {
    const std::size_t next = (after + i) % ranks_.size();
    if (!ranks_[next]->is_asleep() && !ranks_[next]->is_over()) return next;
  }
  return after;
}

void core::release() noexcept {
  if (is_shared()) pass_on(std::max(in_.now(), free_));
}

void core::pass_on(picoseconds from) noexcept {
  const std::size_t next = next_awake(at_);
  since_ = next == at_ ? from : from + in_.costs().turn;
  at_ = next;
  turning_ = anyone_pending();
  if (turning_) in_.schedule(since_, event::kind::turn, *ranks_[at_]);
}

void core::turn() noexcept {
  rank& one = *ranks_[at_];
  if (one.pending_) {
    one.look();  // and releases the core, now or when its work is done
  } else {
    pass_on(in_.now());
  }
}

}  // namespace muster::sim
