// The MPI shim, composed: Muster's default algorithms over shared memory, and between machines over
// the MPI's messages.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tools/library/job_rank.hpp"
#include "tools/library/progress_choice.hpp"
#include "tools/library/recording.hpp"
#include "tools/mpi/cores.hpp"
#include "tools/mpi/node.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/death_watch.hpp"

namespace muster::mpi {
namespace {

class joined_world final : public node {
public:
  joined_world(bootstrap& among, const world_options& options) : world_(among, options) {}
  muster::team& team() noexcept override { return world_.team(); }
  muster::engine& engine() noexcept override { return world_.engine(); }

private:
  world world_;
};

class joined_machines final : public node {
public:
  joined_machines(bootstrap& all, bootstrap& near, std::unique_ptr<messenger> by,
                  const world_options& options)
      : by_(std::move(by)),
        job_(cluster::make_job(all, near, {.nobody_sleeps = options.progress == progress::caller})),
        rank_(make_job_rank(job_, {all.rank(), cluster::reach_by(all.rank(), *by_)}, options,
                            profile::folder_asked_for())) {
    const auto here = job_.ranks_here();
    if (here.size() == 1) return;
    deaths_.emplace(job_.here(), near.rank(), std::vector<std::size_t>(here.begin(), here.end()));
  }
  muster::team& team() noexcept override { return rank_->parts().team(); }
  muster::engine& engine() noexcept override { return rank_->parts().engine(); }

private:
  std::unique_ptr<messenger> by_;
  cluster::job job_;
  std::unique_ptr<job_rank> rank_;
  std::optional<shm::death_watch> deaths_;
};

/// As an MPI waits: what it has under way needs looking after, too.
world_options waiting(bootstrap& near, const node_options& options) {
  world_options how;
  const bool naps = options.may_nap && yielding_is_in_vain(near);
  how.when_idle = naps ? idling::naps : idling::looks_on;
  return how;
}

}  // namespace

std::unique_ptr<node> join_node(bootstrap& among, const node_options& options) {
  return std::make_unique<joined_world>(among, waiting(among, options));
}

std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, std::unique_ptr<messenger> by,
                                    const node_options& options) {
  return std::make_unique<joined_machines>(all, near, std::move(by),
                                           with_progress_asked_for(waiting(near, options)));
}

}  // namespace muster::mpi
