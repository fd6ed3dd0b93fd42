#pragma once

#include <cstddef>
#include <optional>

#include <muster/progress/clock_relation.hpp>
#include <muster/team/bootstrap.hpp>

#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/cluster/rendezvous.hpp"
#include "transports/shm/bootstrap.hpp"
#include "transports/verbs/fabric.hpp"

namespace muster::cluster {

/// A job as one of its ranks has it, and its way to ranks of other machines.
struct bootstrapped {
  job of;
  network by;
  clock_relation clock;  ///< of this machine; the same for all of its ranks
};

/// What whoever started the ranks says of a rank's machine.
struct told_machine {
  std::size_t lowest;                   ///< of its ranks, in the whole job
  std::optional<shm::job> memory = {};  ///< that they share already
};

/// Makes the processes that `among` connects the ranks of a new job, on as many machines as they
/// are. Collective; afterwards nothing of `among` is used.
/// \param here which ranks share a machine, as far as they can; nothing: those that can
/// \param by   how ranks of different machines are to reach each other; nothing: as
///             `MUSTER_FABRIC` says
/// \throws error `errc::bootstrap` on all ranks alike, which names the rank at which it failed
bootstrapped make_job(rendezvous& among, const tcp::job_key& key,
                      std::optional<told_machine> here = {}, std::optional<verbs::fabric> by = {});

/// The same of ranks that reach those of other machines by something else, which whoever calls this
/// has.
/// \param all    connects all processes
/// \param near   connects those of this machine, in the same order
/// \param lowest of those in `all`
job make_job(bootstrap& all, bootstrap& near, std::size_t lowest,
             const shm::bootstrap_options& how);

}  // namespace muster::cluster
