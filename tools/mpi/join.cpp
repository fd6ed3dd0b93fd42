// The MPI shim, composed: Muster's default algorithms over shared memory, and between machines over
// the MPI's messages, or over a network of Muster's own.
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/base/fixed_text.hpp>
#include <muster/muster.hpp>

#include "tools/library/job_rank.hpp"
#include "tools/library/launcher/meet.hpp"
#include "tools/library/launcher/private_channel.hpp"
#include "tools/library/progress_choice.hpp"
#include "tools/library/recording.hpp"
#include "tools/mpi/cores.hpp"
#include "tools/mpi/node.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/death_watch.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/verbs/fabric.hpp"

namespace muster::mpi {
namespace {

class joined_world final : public node {
public:
  joined_world(bootstrap& among, const world_options& options) : world_(among, options) {}
  muster::team& team() noexcept override { return world_.team(); }
  muster::engine& engine() noexcept override { return world_.engine(); }
  void give_up() noexcept override {}  // ranks of one machine end without each other

private:
  world world_;
};

class joined_machines final : public node {
public:
  /// \param by the messages by which `where` reaches others; null: it does otherwise
  joined_machines(cluster::job of, network_place where, const world_options& options,
                  std::unique_ptr<messenger> by = nullptr)
      : by_(std::move(by)),
        job_(std::move(of)),
        rank_(make_job_rank(job_, std::move(where), {options, profile::folder_asked_for()})) {
    const auto here = job_.ranks_here();
    if (here.size() == 1) return;
    deaths_.emplace(job_.here(), job_.here().joined_as(),
                    std::vector<std::size_t>(here.begin(), here.end()));
  }
  muster::team& team() noexcept override { return rank_->parts().team(); }
  muster::engine& engine() noexcept override { return rank_->parts().engine(); }
  void give_up() noexcept override { rank_->fail("other ranks cannot begin"); }

private:
  std::unique_ptr<messenger> by_;
  cluster::job job_;
  std::unique_ptr<job_rank> rank_;
  std::optional<shm::death_watch> deaths_;
};

/// What the MPI carries between its processes.
class mpi_channel final : public launcher::private_channel {
public:
  explicit mpi_channel(bootstrap& all) : all_(all) {}
  std::size_t rank() const noexcept override { return all_.rank(); }
  std::size_t size() const noexcept override { return all_.size(); }
  std::string hear_rank_0(const std::string& mine) override {
    return std::string(tell_all(all_, fixed_text<1000>(mine)).front().view());
  }

private:
  bootstrap& all_;
};

/// As an MPI waits: what it has under way needs looking after, too.
world_options waiting(bootstrap& near, const node_options& options) {
  world_options how;
  const bool naps = options.may_nap && yielding_is_in_vain(near);
  how.when_idle = naps ? idling::naps : idling::looks_on;
  return how;
}

}  // namespace

bool share_a_machine(bootstrap& all) {
  shm::handshake mine;  // of no version: it fits no other
  try {
    mine = shm::describe_this_process();
  } catch (const std::exception&) {
    // Others wait for what this rank says, whatever that is.
  }
  const std::vector<shm::handshake> said = tell_all(all, mine);
  try {
    shm::check_handshakes(said);
    return mine.version != 0;
  } catch (const error&) {
    return false;
  }
}

std::unique_ptr<node> join_node(bootstrap& among, const node_options& options) {
  return std::make_unique<joined_world>(among, waiting(among, options));
}

std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, std::unique_ptr<messenger> by,
                                    const node_options& options) {
  const world_options how = with_progress_asked_for(waiting(near, options));
  network_place where{.rank = all.rank(),
                      .others = cluster::reach_by(all.rank(), *by),
                      .network = nodes_joined_by::mpi};
  const bool nobody_sleeps = how.progress == progress::caller;
  return std::make_unique<joined_machines>(
      cluster::make_job(all, near, {.nobody_sleeps = nobody_sleeps}), std::move(where), how,
      std::move(by));
}

std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, between_machines by,
                                    const node_options& options) {
  const world_options how = with_progress_asked_for(waiting(near, options));
  mpi_channel channel(all);
  const auto fabric = by == between_machines::tcp ? verbs::fabric::tcp : verbs::fabric::verbs;
  meeting at = launcher::meet_through(channel);
  at.machine = tell_all(near, all.rank()).front();
  cluster::bootstrapped met = launcher::meet(std::move(at), fabric);
  network_place where = place_in(met);
  return std::make_unique<joined_machines>(std::move(met.of), std::move(where), how);
}

}  // namespace muster::mpi
