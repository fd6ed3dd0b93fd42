#include <muster/world.hpp>

#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/environment/environment.hpp>

#include "tools/library/job_rank.hpp"
#include "tools/library/launcher/launchers.hpp"
#include "tools/library/launcher/meet.hpp"
#include "tools/library/launcher/muster_run.hpp"
#include "tools/library/progress_choice.hpp"
#include "tools/library/recording.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/shm/bootstrap.hpp"
#include "transports/shm/death_watch.hpp"
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

// A job of whatever kind, and this process as one of its ranks.
struct world::parts {
  explicit parts(shm::job joined, const world_options& options, const recording_folder& arrivals)
      : here(std::move(joined)), rank(make_job_rank(*here, here->joined_as(), options, arrivals)) {}
  parts(cluster::bootstrapped joined, const world_options& options)
      : cluster(std::move(joined.of)),
        rank(make_job_rank(*cluster, place_in(joined), options, profile::folder_asked_for())) {}
  /// Ranks that others than `muster run` started see to each other.
  void watch() {
    const auto ranks = cluster ? cluster->ranks_here() : std::span<const std::size_t>();
    std::vector<std::size_t> names(ranks.begin(), ranks.end());
    if (names.empty()) {
      names.resize(here->size());
      std::iota(names.begin(), names.end(), std::size_t{0});
    }
    if (names.size() == 1) return;
    deaths.emplace(memory(), memory().joined_as(), std::move(names));
  }
  ~parts() {
    if (std::uncaught_exceptions() > exceptions_before) rank->fail({});
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  const shm::job& memory() const noexcept { return here ? *here : cluster->here(); }

  std::optional<shm::job> here;
  std::optional<cluster::job> cluster;
  std::unique_ptr<job_rank> rank;
  std::optional<shm::death_watch> deaths;
  int exceptions_before = std::uncaught_exceptions();
};

std::unique_ptr<world::parts> world::join_or_alone(const world_options& options) {
  if (auto launched = launcher::meet_by_muster_run()) {
    return std::make_unique<parts>(launcher::meet(std::move(*launched)), options);
  }
  auto joined = shm::job::join();
  if (!joined) {
    if (auto asked = launcher::find_meeting()) {
      environment::report_unknown(asked->rank == 0);
      cluster::bootstrapped met = launcher::meet(std::move(*asked));
      auto made = met.of.shape().nodes() > 1
                      ? std::make_unique<parts>(std::move(met), options)
                      : std::make_unique<parts>(std::move(met.of).here(), options,
                                                profile::folder_asked_for());
      made->watch();
      return made;
    }
  }
  environment::report_unknown(!joined);  // of the others `muster run` has said it
  shm::job job = joined ? std::move(*joined) : job_of_one();
  const recording_folder arrivals =
      job.size() > 1 ? profile::folder_asked_for() : prepare_folder_asked_for();
  return std::make_unique<parts>(std::move(job), options, arrivals);
}

world::world(world_options options) : parts_(join_or_alone(with_progress_asked_for(options))) {}
world::world(bootstrap& with, world_options options) {
  const world_options asked = with_progress_asked_for(options);
  parts_ = std::make_unique<parts>(make_job(with, asked), asked, profile::folder_asked_for());
  parts_->watch();
  environment::report_unknown(parts_->here->joined_as() == 0);
}
world::~world() {
  // Everything stays as it is: the others share it, and the engine's thread is not in this process.
  if (parts_->memory().is_inherited()) static_cast<void>(parts_.release());
}
team& world::team() noexcept { return parts_->rank->parts().team(); }
engine& world::engine() noexcept { return parts_->rank->parts().engine(); }

}  // namespace muster
