#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "transports/cluster/job.hpp"
#include "transports/mpi/messenger.hpp"
#include "transports/stream/remote_ranks.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/tcp/rails.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/verbs/ports.hpp"
#include "transports/verbs/rails.hpp"

namespace muster::cluster {

/// A rank's way to ranks of other machines: see `tcp::endpoint` and `verbs::adapter`.
struct network {
  tcp::endpoint::settings how;
  std::vector<tcp::listener> doors;
  std::vector<tcp::paths> peers;
  /// Those reached by RDMA as well, which then carries what is said. None at all: empty.
  std::vector<verbs::paths> by_rdma = {};
  verbs::found_ports ports = {};
  std::size_t most_queue_pairs = 0;  ///< 0: as many as the devices take
};

/// Makes a rank's way to the ranks of other machines of a job, which outlives it; once.
/// \throws error `errc::resource`
using reach = std::function<std::unique_ptr<stream::remote_ranks>(const job& of)>;

reach reach_by(network by);
/// \param rank this one \param by outlives what is made
reach reach_by(std::size_t rank, mpi::messenger& by);

}  // namespace muster::cluster
