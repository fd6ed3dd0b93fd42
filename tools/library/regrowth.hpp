#pragma once

#include <sched.h>

#include <memory>

#include <muster/coro/task.hpp>
#include <muster/run/regrowth.hpp>
#include <muster/run/team.hpp>
#include <muster/world.hpp>

#include "tools/library/launcher/meeting.hpp"
#include "tools/library/launcher/reunion.hpp"

namespace muster {

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
