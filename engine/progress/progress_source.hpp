#pragma once

#include <muster/coro/stop.hpp>

namespace muster {

/// What an engine polls for what has come, and sleeps on when nothing has: a fabric, for example.
/// All calls come from the thread that drives the engine.
class progress_source {
public:
  /// Takes note of what has come since, so that those who wait for it find it. True if something
  /// has. Called at every poll.
  virtual bool progress() noexcept = 0;
  /// Once armed, becomes readable when `progress` has something to do. It stays the same. Negative:
  /// whoever makes a wait ready rings the engine's doorbell instead.
  virtual int descriptor() const noexcept = 0;
  /// Before the engine sleeps, perhaps several times. From its return on, what makes a wait ready
  /// makes the descriptor readable, or rings; the engine looks once more before it sleeps.
  virtual void arm() noexcept = 0;
  /// The engine is awake.
  virtual void disarm() noexcept = 0;
  /// How long an engine may sleep where nobody tells it what comes here; 0: it has to look on. By
  /// default it is told.
  virtual clock_time most_sleep() const noexcept { return clock_time::max(); }

protected:
  ~progress_source() = default;
};

}  // namespace muster
