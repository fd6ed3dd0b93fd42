#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "transports/shm/job.hpp"

namespace muster::shm {

/// Whether its process is, and not by a debugger.
bool is_stopped(const job& of, std::size_t rank) noexcept;

/// Notices that a rank of this machine is stopped, as by `SIGSTOP`, while others wait for it. Who
/// has it asks it again and again.
///
/// Ranks that are stopped themselves wait for nobody: where all of a job are, as a batch system
/// stops them, none is missed. Nor is a rank that a debugger stops.
class stop_watch {
public:
  using clock = std::chrono::steady_clock;

  /// \param of    outlives this
  /// \param rank  whom it watches
  /// \param limit how long others put up with that; 0: for ever
  stop_watch(const job& of, std::size_t rank, std::chrono::milliseconds limit) noexcept
      : job_(of), rank_(rank), limit_(limit) {}

  /// Whether it has been stopped and waited for, for the limit and in every look meanwhile.
  bool is_over(clock::time_point now = clock::now()) noexcept;
  /// How often to ask that.
  static std::chrono::milliseconds between_looks(std::chrono::milliseconds limit) noexcept;
  /// "has been stopped for 10 s": what a failure says then.
  std::string text() const;

private:
  bool is_stopped_and_awaited() const noexcept;
  bool is_awaited() const noexcept;
  bool is_awaited_by(std::size_t other) const noexcept;

  const job& job_;
  std::size_t rank_;
  std::chrono::milliseconds limit_;
  std::optional<clock::time_point> since_;
  clock::time_point last_look_;
};

}  // namespace muster::shm
