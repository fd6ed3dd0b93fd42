#pragma once

#include <chrono>

#include <muster/team/bootstrap.hpp>

#include "transports/shm/job.hpp"

namespace muster::shm {

struct bootstrap_options {
  /// How long a rank waits for what others have to do at once.
  std::chrono::milliseconds patience = std::chrono::seconds(5);
  bool nobody_sleeps = false;  ///< see `job_options`; the same on all ranks
};

/// Makes the processes that `among` connects the ranks of a new job: processes of one machine, in
/// which whoever started them has started nothing of Muster's. Collective; afterwards nothing of
/// `among` is used, and nobody but whoever started a rank learns that it died.
/// \throws error `errc::bootstrap` on all ranks alike, which names the rank at which it failed;
/// what `among` throws passes.
job make_job(bootstrap& among, const bootstrap_options& options = {});

}  // namespace muster::shm
