#include "tools/library/launcher/meet.hpp"

#include <utility>

#include "transports/cluster/rendezvous.hpp"
#include "transports/shm/job.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::launcher {
namespace {

/// Where rank 0 serves, if others do not know yet.
tcp::listener open_door(const cluster::meeting_place& at) {
  // A machine's own name may be one of its loopback: it serves by all of its addresses.
  return tcp::listen_everywhere_at(at.port);
}

}  // namespace

cluster::bootstrapped meet(meeting at, std::optional<verbs::fabric> by) {
  std::optional<cluster::rendezvous_server> server;
  if (at.rank == 0 && at.rank_0_serves) {
    server.emplace(at.door ? std::move(*at.door) : open_door(at.place), at.size, at.place.key,
                   at.place.patience);
  }
  std::optional<cluster::told_machine> here;
  if (at.machine) here.emplace(*at.machine);
  if (at.has_memory) here->memory.emplace(std::move(*shm::job::join()));
  cluster::rendezvous among(at.place, at.rank, at.size);
  return cluster::make_job(among, at.place.key, std::move(here), by);
}

}  // namespace muster::launcher
