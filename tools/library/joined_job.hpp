#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "tools/library/job_rank.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/job.hpp"
#include "transports/shm/death_watch.hpp"
#include "transports/shm/job.hpp"

namespace muster {

/// How long a rank of this machine may be stopped while others wait for it; 0: for ever.
/// \param waits see `world_options::waits_for_stopped`
std::chrono::milliseconds time_to_be_stopped(bool waits);

/// A job of whatever kind, and this process as one of its ranks. Where an exception destroys it,
/// the others are told.
class joined_job {
public:
  joined_job(shm::job joined, const rank_options& options);
  /// On one machine it is one of that alone.
  joined_job(cluster::bootstrapped joined, const rank_options& options);
  ~joined_job();
  joined_job(const joined_job&) = delete;
  joined_job& operator=(const joined_job&) = delete;

  job_rank& rank() noexcept { return *rank_; }
  /// Of the ranks of this machine.
  const shm::job& memory() const noexcept { return here_ ? *here_ : cluster_->here(); }

  /// Ranks that others than `muster run` started see to each other.
  void watch();

private:
  std::optional<shm::job> here_;
  std::optional<cluster::job> cluster_;
  std::unique_ptr<job_rank> rank_;
  std::optional<shm::death_watch> deaths_;
  bool waits_for_stopped_;
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace muster
