#pragma once

#include <sched.h>

#include <memory>
#include <mutex>

#include <muster/coro/task.hpp>
#include <muster/run/regrowth.hpp>
#include <muster/run/team.hpp>
#include <muster/world.hpp>

#include "tools/library/launcher/meeting.hpp"
#include "transports/cluster/bootstrap.hpp"

namespace muster {

/// Meets the other ranks of a job where some have been started again, and makes the job anew with
/// them.
class reunion_attempt {
public:
  explicit reunion_attempt(const meeting& at) : at_(at) {}

  /// Waits until all have come. Where one fails meanwhile, all meet once more.
  /// \throws error `errc::bootstrap`, `errc::rank_left`
  cluster::bootstrapped run();
  /// From another thread: `run` throws, unless all have come and it returns.
  void abandon();
  /// Whether all have come, so that the others count on this one.
  bool is_bound();

private:
  class presence;
  cluster::bootstrapped meet();

  const meeting& at_;
  std::mutex guard_;  // of what follows
  cluster::rendezvous* among_ = nullptr;
  bool is_bound_ = false;
  bool is_abandoned_ = false;
};

/// The job made anew whenever ranks have been started again, and driven by the engine of the team
/// that is to grow.
class regrowth_by_launcher final : public regrowth {
public:
  /// By a thread whose processors tell where this rank is.
  regrowth_by_launcher(meeting at, const world_options& options);

  const meeting& at() const noexcept { return at_; }
  task<std::unique_ptr<team>> grow(team& of) override;

private:
  meeting at_;
  world_options options_;
  cpu_set_t processors_{};
  bool is_growing_ = false;
};

}  // namespace muster
