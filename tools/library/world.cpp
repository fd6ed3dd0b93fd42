#include <muster/world.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <muster/environment/environment.hpp>

#include "tools/library/joined_job.hpp"
#include "tools/library/launcher/launchers.hpp"
#include "tools/library/launcher/meet.hpp"
#include "tools/library/launcher/muster_run.hpp"
#include "tools/library/progress_choice.hpp"
#include "tools/library/recording.hpp"
#include "tools/library/regrowth.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/shm/bootstrap.hpp"
#include "transports/shm/job.hpp"

namespace muster {
namespace {

shm::job job_of_one() {
  shm::job_options options;
  options.places.emplace_back();
  options.one_process = true;
  return shm::job::create(options);
}

/// A job that nobody has prepared the folder for that the environment asks for.
shm::job make_job(bootstrap& with, const world_options& options) {
  try {
    if (with.rank() == 0) prepare_folder_asked_for();
  } catch (const error&) {
    // The recording will say so, too, when the others can be told.
  }
  const bool drives_itself = options.progress == progress::caller;
  const bool needs_rings = !drives_itself || options.when_idle == idling::sleeps;
  return shm::make_job(with, {.nobody_sleeps = !needs_rings});
}

}  // namespace

struct world::parts {
  parts(std::unique_ptr<regrowth_by_launcher> again, std::unique_ptr<joined_job> joined)
      : regrowth(std::move(again)), job(std::move(joined)) {
    if (regrowth) team().grow_by(regrowth.get());
  }

  muster::team& team() noexcept { return job->rank().parts().team(); }

  std::unique_ptr<regrowth_by_launcher> regrowth;  // null: ranks are not started again
  std::unique_ptr<joined_job> job;
};

namespace {

std::unique_ptr<joined_job> join_or_alone(const world_options& options, bool may_grow) {
  rank_options how{.of_world = options, .more_sources = may_grow};
  if (auto launched = launcher::meet_by_muster_run()) {
    cluster::bootstrapped met = launcher::meet(std::move(*launched));
    how.arrivals = profile::folder_asked_for();
    return std::make_unique<joined_job>(std::move(met), how);
  }
  auto joined = shm::job::join();
  if (!joined) {
    if (auto asked = launcher::find_meeting()) {
      environment::report_unknown(asked->rank == 0);
      cluster::bootstrapped met = launcher::meet(std::move(*asked));
      how.arrivals = profile::folder_asked_for();
      auto made = std::make_unique<joined_job>(std::move(met), how);
      made->watch();
      return made;
    }
  }
  environment::report_unknown(!joined);  // of the others `muster run` has said it
  shm::job job = joined ? std::move(*joined) : job_of_one();
  how.arrivals = job.size() > 1 ? profile::folder_asked_for() : prepare_folder_asked_for();
  return std::make_unique<joined_job>(std::move(job), how);
}

std::unique_ptr<joined_job> rejoin_at(const meeting& at, const world_options& options) {
  auto job = std::make_unique<joined_job>(reunion_attempt(at).run(),
                                          rank_options{.of_world = options, .more_sources = true});
  job->watch();
  return job;
}

std::unique_ptr<regrowth_by_launcher> regrowth_at(std::optional<launcher::reunion> place,
                                                  const world_options& options) {
  if (!place) return nullptr;
  return std::make_unique<regrowth_by_launcher>(std::move(place->at), options);
}

}  // namespace

world::world(world_options options) {
  options = with_progress_asked_for(options);
  auto again = launcher::find_reunion();
  const bool rejoins = again && again->started_again;
  if (rejoins && !options.rejoins) {
    throw error(errc::bootstrap, "world: this process was started again as rank " +
                                     std::to_string(again->at.rank) +
                                     ", which had failed; expected world::rejoin");
  }
  auto regrowth = regrowth_at(std::move(again), options);
  auto job =
      rejoins ? rejoin_at(regrowth->at(), options) : join_or_alone(options, regrowth != nullptr);
  parts_ = std::make_unique<parts>(std::move(regrowth), std::move(job));
  ::unsetenv(environment::respawn.name);  // it is this process's, not of those that it starts
}

world::world(bootstrap& with, world_options options) {
  options = with_progress_asked_for(options);
  auto job = std::make_unique<joined_job>(
      make_job(with, options),
      rank_options{.of_world = options, .arrivals = profile::folder_asked_for()});
  job->watch();
  environment::report_unknown(job->memory().joined_as() == 0);
  parts_ = std::make_unique<parts>(nullptr, std::move(job));
}

bool world::is_to_rejoin() noexcept {
  const char* const told = environment::read(environment::respawn);
  return told != nullptr && launcher::is_started_again(told);
}

std::unique_ptr<world> world::rejoin(world_options options) {
  options.rejoins = true;
  return is_to_rejoin() ? std::make_unique<world>(options) : nullptr;
}

world::~world() {
  // Everything stays as it is: the others share it, and the engine's thread is not in this process.
  if (parts_->job->memory().is_inherited()) static_cast<void>(parts_.release());
}
team& world::team() noexcept { return parts_->team(); }
engine& world::engine() noexcept { return parts_->job->rank().parts().engine(); }

}  // namespace muster
