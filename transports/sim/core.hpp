#pragma once

#include <cstddef>
#include <vector>

#include "transports/sim/clock.hpp"

namespace muster::sim {

class rank;
class simulation;

/// A core and the ranks that run on it. Where there are several, each looks once at what it waits
/// for and gives the core up to the next, as `sched_yield` does.
class core {
public:
  explicit core(simulation& in) noexcept : in_(in) {}

  void add(rank& one) { ranks_.push_back(&one); }
  /// When what it was given to do is done.
  picoseconds free() const noexcept { return free_; }
  /// Gives it work until then.
  void use_until(picoseconds when) noexcept { free_ = when; }

  /// A rank wants to look.
  void request(rank& one, bool asleep = false) noexcept;
  /// A rank has nothing more to do for now.
  void release() noexcept;
  /// The next rank's turn has come.
  void turn() noexcept;

private:
  bool is_shared() const noexcept { return ranks_.size() > 1; }
  bool anyone_pending() const noexcept;
  std::size_t next_awake(std::size_t after) const noexcept;
  std::size_t awake() const noexcept;
  /// Gives the next one its turn, `from` being when the last one's ends; or rests.
  void pass_on(picoseconds from) noexcept;

  simulation& in_;
  std::vector<rank*> ranks_;
  picoseconds free_ = 0;
  std::size_t at_ = 0;     // whose turn it is
  picoseconds since_ = 0;  // and since when
  bool turning_ = false;   // else nobody has anything to do
};

}  // namespace muster::sim
