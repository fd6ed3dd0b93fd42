#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/wire/cache_line.hpp>

#include "transports/sim/clock.hpp"

namespace muster::sim {

class rank;
class simulation;

/// A core and the ranks that run on it. Where there are several, each looks once at what it waits
/// for and gives the core up to the next, as `sched_yield` does; unless it waits for other cores
/// alone: then it looks on for as long as giving up the core would take.
class alignas(wire::cache_line) core {
public:
  explicit core(simulation& in) noexcept : in_(in) {}

  void add(rank& one);
  std::size_t ranks() const noexcept { return ranks_.size(); }
  /// When what it was given to do is done.
  picoseconds free() const noexcept { return free_; }
  /// Gives it work until then.
  void use_until(picoseconds when) noexcept { free_ = when; }

  /// Does nothing until then, whatever it was given.
  void pause_until(picoseconds when) noexcept {
    paused_until_ = std::max(paused_until_, when);
    free_ = std::max(free_, when);
  }
  picoseconds paused_until() const noexcept { return paused_until_; }

  /// A rank wants to look.
  void request(rank& one) noexcept;
  /// The rank whose turn it is has nothing more to do for now.
  void release(rank& one) noexcept;
  /// The time for turn `number` has come.
  void turn(std::uint64_t number) noexcept;

private:
  bool is_shared() const noexcept { return ranks_.size() > 1; }
  bool anyone_pending() const noexcept;
  std::size_t next_awake(std::size_t after) const noexcept;
  std::size_t awake() const noexcept;
  /// Goes on with whose turn it is by now, where all have been giving the core to each other.
  void catch_up() noexcept;
  void schedule_turn(picoseconds when) noexcept;
  /// Gives the next one its turn, or rests if nobody has anything to do.
  void pass_on() noexcept;

  simulation& in_;
  picoseconds free_ = 0;
  picoseconds paused_until_ = 0;
  std::vector<rank*> ranks_;
  std::size_t at_ = 0;           // whose turn it is
  bool turning_ = false;         // else nobody has anything to do
  bool holding_ = false;         // the one whose turn it is looks on
  picoseconds since_ = 0;        // when that turn began
  picoseconds switch_ = 0;       // what a turn costs
  std::uint64_t last_turn_ = 0;  // scheduled; earlier ones have been overtaken
};

}  // namespace muster::sim
