#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <muster/progress/clock_relation.hpp>

#include "tools/library/rank_parts.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/job.hpp"

namespace muster {

/// One rank of a job, on whatever fabric: its engine and team, and how it ends. Destroying it stops
/// what still runs and tells the others that it has left.
class job_rank {
public:
  virtual ~job_rank() = default;

  virtual rank_parts& parts() noexcept = 0;
  /// Breaks the job, since this rank ends with an exception.
  virtual void fail(const std::string& what) noexcept = 0;
};

/// Of a job on one machine, which outlives it. One that cannot even begin breaks the job.
std::unique_ptr<job_rank> make_job_rank(const shm::job& of, std::size_t rank,
                                        const rank_options& options);

/// How a rank reaches those of other machines.
struct network_place {
  std::size_t rank;
  cluster::reach others;
  std::optional<clock_relation> clock = {};  ///< of this machine; nothing: others have the same
  nodes_joined_by network = nodes_joined_by::tcp;
};
/// Where this rank is in a job that has just been made, whose network goes there.
network_place place_in(cluster::bootstrapped& made);
/// The same of a job on several.
std::unique_ptr<job_rank> make_job_rank(const cluster::job& of, network_place where,
                                        const rank_options& options);

}  // namespace muster
