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
#include "tools/library/joined_job.hpp"
#include "tools/library/launcher/meet.hpp"
#include "tools/library/launcher/private_channel.hpp"
#include "tools/library/progress_choice.hpp"
#include "tools/library/recording.hpp"
#include "tools/mpi/cores.hpp"
#include "tools/mpi/left_to_mpi.hpp"
#include "tools/mpi/node.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/death_watch.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/verbs/fabric.hpp"

namespace muster::mpi {
namespace {

/// What collectives choose from.
struct known_algorithms {
  std::vector<algorithm> rows = with_mpi(default_algorithms());

  world_options into(world_options options) const {
    options.algorithms = rows;
    return options;
  }
};

class joined_world final : private known_algorithms, public node {
public:
  joined_world(bootstrap& among, const world_options& options) : world_(among, into(options)) {}
  muster::team& team() noexcept override { return world_.team(); }
  muster::engine& engine() noexcept override { return world_.engine(); }
  void give_up() noexcept override {}  // ranks of one machine end without each other

private:
  world world_;
};

class joined_machines final : private known_algorithms, public node {
public:
  /// \param by the messages by which `where` reaches others; null: it does otherwise
  joined_machines(cluster::job of, network_place where, const world_options& options,
                  std::unique_ptr<messenger> by = nullptr)
      : by_(std::move(by)),
        job_(std::move(of)),
        rank_(make_job_rank(job_, std::move(where),
                            rank_options{.of_world = into(options),
                                         .arrivals = profile::folder_asked_for(),
                                         .begins_with_own = true})) {
    const auto here = job_.ranks_here();
    if (here.size() == 1) return;
    deaths_.emplace(job_.here(), job_.here().joined_as(),
                    std::vector<std::size_t>(here.begin(), here.end()),
                    time_to_be_stopped(options.waits_for_stopped));
  }
  muster::team& team() noexcept override { return rank_->parts().team(); }
  muster::engine& engine() noexcept override { return rank_->parts().engine(); }
  void give_up() noexcept override {
    if (by_ != nullptr) by_->give_up();
    rank_->fail("other ranks cannot begin");
  }

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
world_options waiting(const node_options& options) {
  world_options how;
  how.when_idle = options.naps ? idling::naps : idling::looks_on;
  how.waits_for_stopped = true;
  return how;
}

}  // namespace

whereabouts find_whereabouts() {
  whereabouts mine{.who = {}, .cores = find_share_of_cores()};
  try {
    mine.who = shm::describe_this_process();
  } catch (const std::exception&) {
    // Others wait for what this rank says, whatever that is.
  }
  return mine;
}

neighbors_here find_neighbors(std::span<const whereabouts> all, std::size_t rank) {
  neighbors_here found;
  std::vector<share_of_cores> cores;
  const shm::handshake& mine = all[rank].who;
  for (std::size_t other = 0; other < all.size(); ++other) {
    const bool is_here = mine.version != 0 && can_share_memory(all[other].who, mine);
    if (other != rank && !is_here) continue;
    found.ranks.push_back(other);
    cores.push_back(all[other].cores);
  }
  found.yield_in_vain = yielding_is_in_vain(cores);
  return found;
}

std::unique_ptr<node> join_node(bootstrap& among, const node_options& options) {
  return std::make_unique<joined_world>(among, waiting(options));
}

std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, std::size_t lowest,
                                    const make_messenger& by, const node_options& options) {
  const world_options how = with_progress_asked_for(waiting(options));
  const bool nobody_sleeps = how.progress == progress::caller;
  cluster::job of = cluster::make_job(all, near, lowest, {.nobody_sleeps = nobody_sleeps});
  std::unique_ptr<messenger> made = by();
  network_place where{.rank = all.rank(),
                      .others = cluster::reach_by(all.rank(), *made),
                      .network = nodes_joined_by::mpi};
  return std::make_unique<joined_machines>(std::move(of), std::move(where), how, std::move(made));
}

std::unique_ptr<node> join_machines(bootstrap& all, std::size_t lowest, between_machines by,
                                    const node_options& options) {
  const world_options how = with_progress_asked_for(waiting(options));
  mpi_channel channel(all);
  const auto fabric = by == between_machines::tcp ? verbs::fabric::tcp : verbs::fabric::verbs;
  meeting at = launcher::meet_through(channel);
  at.machine = lowest;
  cluster::bootstrapped met = launcher::meet(std::move(at), fabric);
  network_place where = place_in(met);
  return std::make_unique<joined_machines>(std::move(met.of), std::move(where), how);
}

}  // namespace muster::mpi
